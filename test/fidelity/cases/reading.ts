import { type Answer, type Case, type Names, rv, type Step } from '../case.ts';
import { type Fixture, fixtureOf, fixtures } from '../fixtures.ts';

export const accepts = {
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  tableBeta: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
  tableProtobuf: 'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  metadataList: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  metadataProtobuf: 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  protobuf: 'application/vnd.kubernetes.protobuf',
  yaml: 'application/yaml',
};

export function get(path: string, accept?: string): Step {
  return { method: 'GET', path, ...(accept !== undefined && { accept }) };
}

/** Creates `count` objects, silently: what a create answers is another area's business. */
export function seed(fixture: Fixture, names: Names, count: number): Step[] {
  return Array.from({ length: count }, (_, i) => {
    const body = fixture.object(names, suffixOf(fixture, i));
    body.metadata.labels = { ...body.metadata.labels, fidelity: names.name, index: `i${i}` };
    return { method: 'POST', path: fixture.path(names), body, silent: true };
  });
}

/** Fixtures that name themselves have one object only. */
export function suffixOf(fixture: Fixture, i: number): string {
  return i === 0 || fixture.info.resource === 'ipaddresses' ? '' : `${'abcdefgh'[i]}`;
}

export const listable = fixtures.filter(({ info }) => info.resource !== 'apiservices');

export function readingCases(): Case[] {
  return [...listable.flatMap(ofKind), ...selectors(), ...revisions(), ...paging(), ...errors(), ...fields()];
}

function ofKind(fixture: Fixture): Case[] {
  const { info } = fixture;
  const id = `reading/${info.group || 'core'}.${info.version}.${info.resource}`;
  const count = info.resource === 'ipaddresses' ? 1 : 3;
  const own = (names: Names) => `labelSelector=fidelity%3D${names.name}`;
  const object = (names: Names) => `${fixture.path(names)}/${fixture.object(names).metadata.name}`;
  const ownNamespace = info.namespaced;
  const read: Case = {
    id: `${id}/read`,
    area: 'reading',
    ownNamespace,
    steps: (names) => [
      ...seed(fixture, names, count),
      get(object(names)),
      get(`${object(names)}?resourceVersion=0`),
      get(`${object(names)}?pretty=true`),
      get(`${object(names)}-none`),
      get(`${fixture.path(names)}?${own(names)}`),
      get(`${fixture.path(names)}?${own(names)}&limit=2`),
      (seen) => get(`${fixture.path(names)}?${own(names)}&limit=2&continue=${token(seen.at(-1))}`) as never,
      get(`${fixture.path(names)}?${own(names)}&resourceVersion=0`),
      get(`${fixture.path(names)}?labelSelector=fidelity%3D${names.name},index+in+(i1,i2)`),
      get(`${fixture.path(names)}?fieldSelector=metadata.name%3D${fixture.object(names).metadata.name}`),
      get(`${fixture.path(names)}?fieldSelector=metadata.nothing%3Da`),
      get(`${fixture.path(names)}?fieldSelector=spec.nodeName%3Da`),
    ],
  };
  const forms: Case = {
    id: `${id}/forms`,
    area: 'reading',
    ownNamespace,
    steps: (names) => [
      ...seed(fixture, names, count),
      ...Object.values(accepts).flatMap((accept) => [
        get(`${fixture.path(names)}?${own(names)}`, accept),
        get(object(names), accept),
      ]),
      get(`${fixture.path(names)}?${own(names)}&includeObject=Object`, accepts.table),
      get(`${fixture.path(names)}?${own(names)}&includeObject=None`, accepts.table),
      get(`${fixture.path(names)}?${own(names)}&includeObject=Some`, accepts.table),
      get(`${object(names)}?includeObject=Object`, accepts.table),
      get(`${fixture.path(names)}?${own(names)}&limit=1`, accepts.table),
    ],
  };
  return [read, forms];
}

function token(answer: Answer | undefined): string {
  return encodeURIComponent(answer?.json?.['metadata']?.['continue'] ?? '');
}

const secrets = fixtureOf('secrets');

function selectors(): Case[] {
  const texts = [
    'a=b',
    'a==b',
    'a!=b',
    'a',
    '!a',
    'a in (b)',
    'a in (b, c)',
    'a notin (b,c)',
    'a in ()',
    'a notin ()',
    'a>1',
    'a<5',
    'a>b',
    'a=',
    'a in (b',
    'a b',
    '=b',
    ',',
    'a,',
    'a,,b',
    'a in b',
    '!a=b',
    'a===b',
    'A/B/C=d',
    'a=b c',
    '-a=b',
    `a=${'x'.repeat(64)}`,
    `${'k'.repeat(64)}=v`,
    'example.com/a=b',
    'Example.com/a=b',
    'a=b,c!=d,e',
    'a!',
    '()',
    'in',
    'in in (in)',
    'notin',
    'a in (,)',
    'a in (b,)',
    'a=-b',
    'index=i1',
    'index in (i0,i1),fidelity',
    'a==b,',
    'a ! = b',
    'a=b=c',
    'a<1,a>0',
  ];
  return texts.map((text, i) => ({
    id: `reading/labelSelector/${i}`,
    area: 'reading' as const,
    ownNamespace: i % 10 === 0,
    steps: (names: Names) => [
      ...(i % 10 === 0 ? seed(secrets, names, 2) : []),
      get(
        `/api/v1/namespaces/${i % 10 === 0 ? names.ns : 'none'}/secrets?labelSelector=${encodeURIComponent(text)}`,
      ),
    ],
  }));
}

function revisions(): Case[] {
  const queries = [
    '',
    'resourceVersion=',
    'resourceVersion=0',
    'resourceVersion=1',
    'resourceVersion=x',
    'resourceVersion=-1',
    'resourceVersion=00',
    'resourceVersion=99999999999',
    'resourceVersion=18446744073709551616',
    'resourceVersion=1.5',
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=NotOlderThan',
    'resourceVersionMatch=Some',
    'resourceVersionMatch=',
    'resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersion=0&resourceVersionMatch=NotOlderThan',
    'resourceVersion=0&resourceVersionMatch=Bad',
    'resourceVersion=RV&resourceVersionMatch=Exact',
    'resourceVersion=RV&resourceVersionMatch=NotOlderThan',
    'resourceVersion=RV',
    'resourceVersion=RV&limit=1',
    'resourceVersion=RV&limit=1&resourceVersionMatch=Exact',
    'resourceVersion=RV&limit=1&resourceVersionMatch=NotOlderThan',
    'resourceVersion=0&limit=1',
    'limit=0',
    'limit=-1',
    'limit=x',
    'limit=1',
    'limit=1&continue=abc',
    'continue=abc',
    'continue=CT',
    'continue=CT&resourceVersion=RV',
    'continue=CT&resourceVersion=0',
    'continue=CT&resourceVersionMatch=Exact',
    'continue=CT&limit=1&resourceVersion=RV&resourceVersionMatch=Exact',
    'limit=99999999999999999999',
    'sendInitialEvents=true',
    'sendInitialEvents=false',
    'sendInitialEvents=x',
    'allowWatchBookmarks=true',
    'timeoutSeconds=5',
    'timeoutSeconds=x',
    'timeoutSeconds=-1',
    'watch=false',
    'watch=0',
    'watch=x&timeoutSeconds=1',
    'pretty=1',
    'pretty=false',
    'unknown=1',
    'limit=1&limit=2',
    'labelSelector=index%3Di1&labelSelector=index%3Di0',
    'timeout=5s',
    'timeout=x',
    'shardSelector=a',
    'fieldSelector=metadata.name%21%3Dx',
    'fieldSelector=metadata.namespace%3Dx',
    'fieldSelector=type%3DOpaque',
    'fieldSelector=a',
    'fieldSelector=%3D',
    'fieldSelector=metadata.name',
    'fieldSelector=metadata.name%3D%5Ca',
    'fieldSelector=metadata.name%3Da%2Cmetadata.name%3Db',
    'fieldSelector=metadata.name+in+(a)',
    'fieldSelector=metadata.name%3D%3Da',
    'fieldSelector=%2C',
  ];
  return [secrets, fixtureOf('deployments', 'apps')].flatMap((fixture) =>
    queries.map((query, i) => ({
      id: `reading/options/${fixture.info.resource}/${i}`,
      area: 'reading' as const,
      ownNamespace: true,
      steps: (names: Names) => [
        ...seed(fixture, names, 3),
        { ...(get(`${fixture.path(names)}?limit=1`) as object), silent: true } as Step,
        (seen: readonly Answer[]) =>
          get(
            `${fixture.path(names)}?${query.replace('RV', rv(seen[3])).replace('CT', token(seen[3]))}`,
          ) as never,
        ...(query.includes('resourceVersion') && !query.includes('Match') && !query.includes('limit')
          ? [
              (seen: readonly Answer[]) =>
                get(
                  `${fixture.path(names)}/${names.name}?${query.replace('RV', rv(seen[3])).replace('CT', '')}`,
                ) as never,
            ]
          : []),
      ],
    })),
  );
}

function paging(): Case[] {
  return ['secrets', 'services', 'pods'].map((resource) => ({
    id: `reading/paging/${resource}`,
    area: 'reading',
    ownNamespace: true,
    steps: (names) => {
      const fixture = fixtureOf(resource);
      const page = (seen: readonly Answer[]) =>
        get(`${fixture.path(names)}?limit=2&continue=${token(seen.at(-1))}`) as never;
      return [
        ...seed(fixture, names, 7),
        get(`${fixture.path(names)}?limit=2`),
        // What is made while somebody pages is not on any page.
        (seen) => ({
          method: 'DELETE',
          path: `${fixture.path(names)}/${names.name}b?gracePeriodSeconds=0`,
          silent: true,
          body: seen.length > 0 ? { kind: 'DeleteOptions', apiVersion: 'v1' } : {},
        }),
        (seen) => get(`${fixture.path(names)}?limit=2&continue=${token(seen[7])}`) as never,
        page,
        page,
        (seen) => get(`${fixture.path(names)}?limit=5&continue=${token(seen[7])}`, accepts.table) as never,
        (seen) =>
          get(`${fixture.path(names)}?limit=5&continue=${token(seen[7])}&labelSelector=index%3Di3`) as never,
      ];
    },
  }));
}

function errors(): Case[] {
  const paths = [
    '/',
    '/nothing',
    '/api/v2',
    '/api/v1/nothing',
    '/api/v1/namespaces/default/nothing',
    '/apis/nothing.example.com',
    '/apis/apps/v9',
    '/apis/apps/v1/nothing',
    '/apis/apps/v1/namespaces/default/deployments/none',
    '/apis/apps/v1/namespaces/default/deployments/none/nothing',
    '/api/v1/namespaces/default/pods/none/status',
    '/api/v1/namespaces/default/pods/none/log',
    '/api/v1/pods/none',
    '/api/v1/namespaces/none/pods',
    '/api/v1/namespaces/none/secrets/none',
    '/api/v1/namespaces/default/namespaces',
    '/api/v1/namespaces/default/nodes',
    '/api/v1/nodes/none/status',
    '/api/v1/componentstatuses/none',
    '/api/v1/bindings',
    '/api/v1/namespaces/default/bindings',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    '/api/v1/namespaces/none',
    '/api/v1/namespaces/none/status',
    '/api/v1/namespaces/none/finalize',
    '/api/v1/namespaces/default/services/none/status',
    '/api/v1//pods',
    '/api/v1/pods/',
    '/api/v1/namespaces/default/secrets/',
    '/api//v1/pods',
    '/apis/',
    '/api/',
    '/apis/apps/',
    '/apis/apps/v1/',
    '/API/v1/pods',
    '/api/v1/Pods',
    '/api/v1/namespaces/default/secrets/a%2Fb',
    '/api/v1/namespaces/default/secrets/%00',
    '/api/v1/namespaces/default/secrets/A_B',
    '/api/v1/namespaces/default/secrets/..',
    '/healthz',
    '/livez',
    '/readyz',
    '/healthz/ping',
    '/readyz/nothing',
    '/version',
    '/version/',
    '/metrics/nothing',
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
    '/openapi/v2/x',
    '/openapi/v3/nothing',
    '/openapi/v3/apis/nothing/v1',
    '/logs',
    '/swagger.json',
    '/ui',
  ];
  const methods: Case[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'FOO'].flatMap(
    (method) =>
      [
        '/api',
        '/api/v1',
        '/api/v1/pods',
        '/api/v1/namespaces/default/secrets',
        '/api/v1/namespaces/default/secrets/none',
        '/api/v1/nodes/none',
        '/version',
        '/apis/apps/v1/namespaces/default/deployments/none/scale',
      ].map((path, i) => ({
        id: `reading/methods/${method}/${i}`,
        area: 'reading' as const,
        steps: () => [{ method, path, ...(method.startsWith('P') && { body: {} }) }],
      })),
  );
  const empty: Case[] = [
    'limit',
    'timeoutSeconds',
    'gracePeriodSeconds',
    'propagationPolicy',
    'dryRun',
  ].flatMap((parameter) =>
    (['GET', 'DELETE'] as const).map((method) => ({
      id: `reading/empty/${method}/${parameter}`,
      area: 'reading' as const,
      steps: () => [
        {
          method,
          path: `/api/v1/namespaces/default/limitranges${method === 'GET' ? '' : '/none'}?${parameter}=`,
        },
      ],
    })),
  );
  return [
    ...empty,
    ...paths.map(
      (path, i): Case => ({ id: `reading/paths/${i}`, area: 'reading', steps: () => [get(path)] }),
    ),
    ...methods,
  ];
}

/** Field selectors that kinds know. */
function fields(): Case[] {
  const known: [string, string, string[]][] = [
    [
      'pods',
      '',
      [
        'spec.nodeName=',
        'spec.nodeName=a',
        'spec.restartPolicy=Always',
        'spec.schedulerName=default-scheduler',
        'spec.serviceAccountName=',
        'spec.hostNetwork=false',
        'status.phase=Pending',
        'status.phase!=Pending',
        'status.podIP=',
        'status.podIPs=',
        'status.nominatedNodeName=',
        'spec.host=a',
      ],
    ],
    [
      'events',
      '',
      [
        'involvedObject.kind=Pod',
        'involvedObject.name=web',
        'involvedObject.namespace=x',
        'involvedObject.uid=1-2-3',
        'involvedObject.apiVersion=v1',
        'involvedObject.resourceVersion=',
        'involvedObject.fieldPath=',
        'reason=Started',
        'type=Normal',
        'type!=Normal',
        'source=kubelet',
        'reportingComponent=',
        'reason!=Started',
        'regarding.kind=Pod',
      ],
    ],
    [
      'events',
      'events.k8s.io',
      [
        'regarding.kind=Deployment',
        'regarding.name=web',
        'reportingController=example.com/controller',
        'reason=Scaled',
        'type=Normal',
        'involvedObject.kind=Pod',
        'source=kubelet',
        'reportingComponent=x',
      ],
    ],
    ['secrets', '', ['type=Opaque', 'type=x', 'type!=Opaque']],
    ['namespaces', '', ['status.phase=Active', 'name=x', 'status.phase=Terminating']],
    ['nodes', '', ['spec.unschedulable=true', 'spec.unschedulable=false']],
    ['services', '', ['spec.clusterIP=None', 'spec.type=ClusterIP']],
    ['persistentvolumes', '', ['name=x', 'spec.claimRef=a']],
    ['persistentvolumeclaims', '', ['name=x']],
    ['replicationcontrollers', '', ['status.replicas=0']],
    ['replicasets', 'apps', ['status.replicas=0', 'status.replicas=1']],
    ['jobs', 'batch', ['status.successful=0', 'status.successful=1']],
    [
      'certificatesigningrequests',
      'certificates.k8s.io',
      ['spec.signerName=example.com/signer', 'spec.signerName=x'],
    ],
    ['configmaps', '', ['data.a=1', 'metadata.labels=1']],
    ['resourceslices', 'resource.k8s.io', ['spec.nodeName=n1', 'spec.driver=d.example.com', 'spec.driver=x']],
    ['ipaddresses', 'networking.k8s.io', ['spec.parentRef=a']],
    ['customresourcedefinitions', 'apiextensions.k8s.io', ['spec.group=a']],
    ['deployments', 'apps', ['status.replicas=0', 'spec.replicas=3']],
    ['ingresses', 'networking.k8s.io', ['spec.ingressClassName=x']],
    ['leases', 'coordination.k8s.io', ['spec.holderIdentity=x']],
    ['roles', 'rbac.authorization.k8s.io', ['a=b']],
    ['validatingadmissionpolicies', 'admissionregistration.k8s.io', ['a=b']],
    ['flowschemas', 'flowcontrol.apiserver.k8s.io', ['a=b']],
  ];
  return known.map(([resource, group, texts]) => {
    const fixture = fixtureOf(resource, group);
    return {
      id: `reading/fields/${group || 'core'}.${resource}`,
      area: 'reading',
      ownNamespace: true,
      steps: (names) => [
        ...seed(fixture, names, 2),
        ...texts.map((text) =>
          get(
            `${fixture.path(names)}?fieldSelector=${encodeURIComponent(text)}&labelSelector=fidelity%3D${names.name}`,
          ),
        ),
      ],
    };
  });
}
