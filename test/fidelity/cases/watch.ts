import { type Answer, type Case, type Names, rv, type Step } from '../case.ts';
import { type Fixture, fixtureOf } from '../fixtures.ts';
import { accepts, get, listable, seed } from './reading.ts';

/** Long enough for a few writes on a busy machine. */
const seconds = 3;

export function watchCases(): Case[] {
  return [
    ...listable.flatMap(ofKind),
    ...bookmarks(),
    ...options(),
    ...forms(),
    ...transitions(),
    ...errors(),
  ];
}

function watch(path: string, accept?: string): Step {
  const joined = `${path}${path.includes('?') ? '&' : '?'}watch=true&timeoutSeconds=${seconds}`;
  return { method: 'GET', path: joined, watch: true, ...(accept !== undefined && { accept }) };
}

/** The requests that a watch sees: label twice, delete, create again. */
function changes(fixture: Fixture, names: Names): Step[] {
  const path = `${fixture.path(names)}/${fixture.object(names).metadata.name}`;
  const label = (value: string): Step => ({
    method: 'PATCH',
    path,
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels: { watched: value } } },
    silent: true,
  });
  const again = fixture.object(names, fixture.info.resource === 'ipaddresses' ? '' : 'z');
  again.metadata.labels = { ...again.metadata.labels, fidelity: names.name };
  return [
    label('one'),
    label('two'),
    { method: 'DELETE', path: `${path}?gracePeriodSeconds=0`, silent: true },
    { method: 'POST', path: fixture.path(names), body: again, silent: true },
  ];
}

function own(names: Names): string {
  return `labelSelector=fidelity%3D${names.name}`;
}

function ofKind(fixture: Fixture): Case[] {
  const { info } = fixture;
  return [
    {
      id: `watch/${info.group || 'core'}.${info.version}.${info.resource}`,
      area: 'watch',
      ownNamespace: info.namespaced,
      steps: (names) => [
        ...seed(fixture, names, 1),
        (seen: readonly Answer[]) =>
          watch(`${fixture.path(names)}?${own(names)}&resourceVersion=${rv(seen[0])}`) as never,
        (seen: readonly Answer[]) =>
          watch(
            `${fixture.path(names)}?${own(names)}&resourceVersion=${rv(seen[0])}`,
            accepts.table,
          ) as never,
        ...changes(fixture, names),
      ],
    },
  ];
}

/** The bookmark that ends the initial events, whose object is an empty one of its kind. */
function bookmarks(): Case[] {
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  return listable.map((fixture): Case => {
    const { group, version, resource, namespaced } = fixture.info;
    return {
      id: `watch/bookmark/${group || 'core'}.${version}.${resource}`,
      area: 'watch',
      ownNamespace: namespaced,
      steps: (names) => [
        get(`${fixture.path(names)}?watch=true&timeoutSeconds=1&labelSelector=a%3D${names.name}&${query}`),
      ],
    };
  });
}

function options(): Case[] {
  const queries = [
    '',
    'resourceVersion=0',
    'resourceVersion=RV',
    'resourceVersion=1',
    'resourceVersion=x',
    'resourceVersion=99999999999',
    'allowWatchBookmarks=true',
    'allowWatchBookmarks=x',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=RV',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=true&allowWatchBookmarks=true',
    'sendInitialEvents=true&resourceVersionMatch=Exact&allowWatchBookmarks=true',
    'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=RV',
    'sendInitialEvents=false',
    'sendInitialEvents=false&resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    'resourceVersionMatch=NotOlderThan',
    'resourceVersionMatch=Exact&resourceVersion=RV',
    'resourceVersionMatch=NotOlderThan&resourceVersion=RV',
    'limit=1',
    'continue=abc',
    'fieldSelector=metadata.name%3DNAME',
    'fieldSelector=metadata.nothing%3DNAME',
    'labelSelector=a+b',
    'labelSelector=watched%3Done',
    'labelSelector=watched!%3Done',
    'fieldSelector=metadata.name%21%3DNAME',
    'pretty=true',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=watched%3Done',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=99999999999',
    'sendInitialEvents=x',
    'resourceVersion=-1',
  ];
  return [fixtureOf('secrets'), fixtureOf('leases', 'coordination.k8s.io')].flatMap((fixture) =>
    queries.map((query, i) => ({
      id: `watch/options/${fixture.info.resource}/${i}`,
      area: 'watch' as const,
      ownNamespace: true,
      steps: (names: Names) => [
        ...seed(fixture, names, 2),
        (seen: readonly Answer[]) =>
          watch(
            `${fixture.path(names)}?${query.replace('RV', rv(seen[1])).replace('NAME', names.name)}`,
          ) as never,
        ...changes(fixture, names),
      ],
    })),
  );
}

function forms(): Case[] {
  return ['secrets', 'pods', 'services'].flatMap((resource) =>
    [
      ...Object.entries(accepts),
      ['any', '*/*'],
      ['none', ''],
      ['bad', 'text/plain'],
      ['cbor', 'application/cbor-seq'],
    ].map(([name = '', accept]) => {
      const fixture = fixtureOf(resource);
      return {
        id: `watch/forms/${resource}/${name}`,
        area: 'watch' as const,
        ownNamespace: true,
        steps: (names: Names) => [
          ...seed(fixture, names, 2),
          watch(
            `${fixture.path(names)}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
            accept,
          ),
          (seen: readonly Answer[]) =>
            watch(`${fixture.path(names)}?resourceVersion=${rv(seen[1])}`, accept) as never,
          ...changes(fixture, names),
        ],
      };
    }),
  );
}

function transitions(): Case[] {
  const pod = fixtureOf('pods');
  const status = (names: Names, phase: string): Step => ({
    method: 'PATCH',
    path: `${pod.path(names)}/${names.name}/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { phase } },
    silent: true,
  });
  return ['status.phase=Pending', 'status.phase!=Pending', 'status.phase=Running', 'spec.nodeName='].map(
    (text, i) => ({
      id: `watch/transitions/${i}`,
      area: 'watch',
      ownNamespace: true,
      steps: (names) => [
        ...seed(pod, names, 1),
        (seen) =>
          watch(
            `${pod.path(names)}?fieldSelector=${encodeURIComponent(text)}&resourceVersion=${rv(seen[0])}`,
          ) as never,
        (seen) =>
          watch(
            `${pod.path(names)}?fieldSelector=${encodeURIComponent(text)}&resourceVersion=${rv(seen[0])}`,
            accepts.table,
          ) as never,
        status(names, 'Running'),
        status(names, 'Pending'),
        status(names, 'Succeeded'),
        { method: 'DELETE', path: `${pod.path(names)}/${names.name}?gracePeriodSeconds=0`, silent: true },
      ],
    }),
  );
}

function errors(): Case[] {
  const paths = [
    '/api/v1/watch/namespaces/NS/secrets?timeoutSeconds=1',
    '/api/v1/watch/namespaces/NS/secrets/NAME?timeoutSeconds=1',
    '/api/v1/watch/secrets?timeoutSeconds=1&labelSelector=fidelity%3DNAME',
    '/api/v1/namespaces/NS/secrets/NAME?watch=true&timeoutSeconds=1',
    '/api/v1/namespaces/NS/secrets/NAME?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3DNAME',
    '/api/v1/namespaces/NS/secrets/NAME?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dother',
    '/api/v1/namespaces/NS/bindings?watch=true',
    '/api/v1/componentstatuses?watch=true',
    '/api/v1/namespaces/none/secrets?watch=true&timeoutSeconds=1',
    '/api/v1/namespaces/NS/nothing?watch=true',
    '/api/v1/namespaces/NS/secrets?watch=1&timeoutSeconds=1',
    '/api/v1/namespaces/NS/secrets?watch=yes&timeoutSeconds=1',
    '/api/v1/namespaces/NS/secrets?watch&timeoutSeconds=1',
    '/api/v1/watch/namespaces/NS?timeoutSeconds=1',
    '/apis/apps/v1/watch/namespaces/NS/deployments?timeoutSeconds=1',
    '/apis/apps/v1/watch/deployments/NAME',
  ];
  return paths.map((path, i) => ({
    id: `watch/paths/${i}`,
    area: 'watch',
    ownNamespace: true,
    steps: (names) => [
      ...seed(fixtureOf('secrets'), names, 1),
      get(path.replaceAll('NS', names.ns).replaceAll('NAME', names.name)),
    ],
  }));
}
