import { encodeYaml } from '../../../kube/yaml.ts';
import { type Answer, type Case, type Names, type Request, rv, type Step, set } from '../case.ts';
import { type Fixture, fixtures } from '../fixtures.ts';
import { addressesCases } from './addresses.ts';
import { strictCases } from './strict.ts';

const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

export function writesCases(): Case[] {
  const ofKinds = fixtures.flatMap((fixture) => [
    life(fixture),
    patches(fixture),
    applies(fixture),
    deletes(fixture),
    ...options(fixture),
  ]);
  return [...ofKinds, ...strictCases(), ...addressesCases()];
}

interface Kind {
  fixture: Fixture;
  names: Names;
  collection: string;
  object: string;
  create: Request;
}

function kindOf(fixture: Fixture, names: Names): Kind {
  const body = fixture.object(names);
  const collection = fixture.path(names);
  const object = `${collection}/${body.metadata.name}`;
  return { fixture, names, collection, object, create: { method: 'POST', path: collection, body } };
}

function caseOf(fixture: Fixture, what: string, steps: (kind: Kind) => Step[]): Case {
  const { group, version, resource, namespaced } = fixture.info;
  // Quotas and limits of one case would hinder another.
  const own = namespaced && ['resourcequotas', 'limitranges', 'poddisruptionbudgets'].includes(resource);
  return {
    id: `writes/${group || 'core'}.${version}.${resource}/${what}`,
    area: 'writes',
    ownNamespace: own,
    steps: (names) => steps(kindOf(fixture, names)),
  };
}

/** The object that an earlier answer carries, changed. */
function edited(answer: Answer | undefined, edit: (object: Editable) => void): object {
  const object = structuredClone((answer?.json ?? {}) as unknown as Editable);
  object.metadata ??= {};
  edit(object);
  return object;
}

/** The object as it was shown last. */
function latest(seen: readonly Answer[]): Answer | undefined {
  return seen.findLast(({ json }) => json?.['metadata']?.['uid']);
}

interface Editable {
  metadata: { [field: string]: unknown };
  [field: string]: unknown;
}

/** Create, read, update in every way, delete. */
function life(fixture: Fixture): Case {
  return caseOf(fixture, 'life', ({ collection, object, create }) => [
    create,
    create,
    { method: 'GET', path: object },
    (seen) => ({ method: 'PUT', path: object, body: edited(seen[2], () => undefined) }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(latest(seen), (o) => set(o.metadata, 'labels', { changed: 'yes' })),
    }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(seen[2], (o) => set(o.metadata, 'labels', { changed: 'again' })),
    }),
    { method: 'PUT', path: object, body: create.body as object },
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(seen[2], (o) => set(o.metadata, 'resourceVersion', '1')),
    }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(seen[2], (o) => {
        o.metadata['uid'] = '00000000-0000-0000-0000-000000000000';
        delete o.metadata['resourceVersion'];
      }),
    }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(seen[2], (o) => {
        Object.assign(o.metadata, {
          generation: 99,
          creationTimestamp: '2020-01-01T00:00:00Z',
          deletionTimestamp: '2020-01-01T00:00:00Z',
          selfLink: '/x',
          managedFields: [{}],
        });
        delete o.metadata['resourceVersion'];
      }),
    }),
    (seen) => ({ method: 'PUT', path: `${object}-other`, body: edited(seen[2], () => undefined) }),
    (seen) => ({
      method: 'PUT',
      path: `${object}-other`,
      body: edited(seen[2], (o) => set(o.metadata, 'name', `${String(o.metadata['name'])}-other`)),
    }),
    { method: 'GET', path: object },
    {
      method: 'DELETE',
      path: object,
      body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
    },
    { method: 'GET', path: object },
    { method: 'DELETE', path: object },
    { method: 'DELETE', path: `${collection}?labelSelector=none%3Dnone` },
  ]);
}

function patches(fixture: Fixture): Case {
  const patch = (path: string, contentType: string, body: object | string): Step => ({
    method: 'PATCH',
    path,
    contentType,
    body,
  });
  return caseOf(fixture, 'patch', ({ object, create }) => [
    create,
    patch(object, merge, { metadata: { labels: { a: 'b' }, annotations: { note: null } } }),
    patch(object, merge, { metadata: { labels: { a: 'b' } } }),
    patch(object, strategic, { metadata: { labels: { c: 'd', a: null }, finalizers: ['example.com/a'] } }),
    patch(object, strategic, { metadata: { $patch: 'replace', labels: { x: 'y' } } }),
    patch(object, strategic, { metadata: { labels: { $patch: 'delete' } } }),
    patch(object, jsonPatch, [{ op: 'add', path: '/metadata/labels', value: { j: 'p' } }]),
    patch(object, jsonPatch, [{ op: 'test', path: '/metadata/labels/j', value: 'no' }]),
    patch(object, jsonPatch, [{ op: 'remove', path: '/metadata/nothing' }]),
    patch(object, jsonPatch, [{ op: 'replace', path: '/metadata/name', value: 'other' }]),
    patch(object, jsonPatch, [{ op: 'bad', path: '/x' }]),
    patch(object, jsonPatch, { not: 'a list' }),
    patch(object, merge, '{'),
    patch(object, merge, '[]'),
    patch(object, merge, { metadata: { name: 'other' } }),
    patch(object, merge, { kind: 'Other' }),
    patch(object, merge, { apiVersion: 'v9' }),
    patch(object, merge, { metadata: { resourceVersion: '1' } }),
    patch(object, merge, { metadata: { uid: 'x' } }),
    patch(object, merge, { nothing: 1, metadata: { nothing: 2 } }),
    patch(`${object}?fieldValidation=Strict`, merge, { nothing: 1, metadata: { nothing: 2 } }),
    patch(`${object}?fieldValidation=Ignore`, merge, { nothing: 1 }),
    patch(`${object}?fieldValidation=Strict`, strategic, { nothing: 1 }),
    patch(`${object}?dryRun=All&fieldManager=me`, merge, { metadata: { labels: { dry: 'run' } } }),
    patch(`${object}?fieldManager=me`, merge, { metadata: { labels: { a: 'me' } } }),
    patch(`${object}?force=true`, merge, {}),
    patch(object, 'application/json', {}),
    patch(object, 'text/plain', {}),
    patch(object, merge, { metadata: { finalizers: null } }),
    patch(`${object}-none`, merge, { metadata: { labels: { a: 'b' } } }),
    { method: 'GET', path: object },
    { method: 'DELETE', path: `${object}?gracePeriodSeconds=0`, silent: true },
  ]);
}

function applies(fixture: Fixture): Case {
  return caseOf(fixture, 'apply', ({ object, fixture, names, create }) => {
    const body = fixture.object(names);
    const send = (query: string, change: (o: Editable) => void = () => undefined): Step => {
      const copy = structuredClone(body) as unknown as Editable;
      change(copy);
      return { method: 'PATCH', path: `${object}?${query}`, contentType: apply, body: encodeYaml(copy) };
    };
    const labels = (value: object) => (o: Editable) => set(o.metadata, 'labels', value);
    const unnamed = (o: Editable) => void delete o.metadata['name'];
    return [
      send('fieldManager=one', unnamed),
      send('fieldManager=one', (o) => set(o.metadata, 'uid', 'x')),
      send('fieldManager=one'),
      send('fieldManager=one', unnamed),
      send('fieldManager=one', (o) => set(o.metadata, 'name', '')),
      send('fieldManager=one'),
      send('fieldManager=two', labels({ app: 'two' })),
      send('fieldManager=two&force=true', labels({ app: 'two', extra: 'x' })),
      send('fieldManager=one'),
      send('fieldManager=two', (o) => void delete o.metadata['labels']),
      send('fieldManager=one&force=true', (o) => void delete o.metadata['annotations']),
      send(''),
      send('fieldManager=one&force=x'),
      send('fieldManager=one', (o) => set(o.metadata, 'managedFields', [{ manager: 'x' }])),
      send('fieldManager=one', (o) => set(o, 'nothing', 1)),
      send('fieldManager=one&fieldValidation=Strict', (o) => set(o, 'nothing', 1)),
      send('fieldManager=one&fieldValidation=Ignore', (o) => set(o, 'nothing', 1)),
      send('fieldManager=one&dryRun=All&force=true', labels({ dry: 'run' })),
      send(`fieldManager=${'m'.repeat(129)}`),
      send('fieldManager=one', (o) => void delete o['kind']),
      send('fieldManager=one', (o) => set(o.metadata, 'name', 'other')),
      send('fieldManager=one', (o) => set(o.metadata, 'resourceVersion', '1')),
      { method: 'PUT', path: `${object}?fieldManager=three`, body: create.body as object },
      send('fieldManager=one&force=true'),
      { method: 'GET', path: object },
      { method: 'DELETE', path: `${object}?gracePeriodSeconds=0`, silent: true },
    ];
  });
}

function deletes(fixture: Fixture): Case {
  return caseOf(fixture, 'delete', ({ collection, object, create, names }) => {
    const remove = (path: string, body?: object): Step => ({ method: 'DELETE', path, ...(body && { body }) });
    const label: Step = {
      method: 'PATCH',
      path: object,
      contentType: merge,
      body: { metadata: { labels: { batch: names.name }, finalizers: ['example.com/hold'] } },
      silent: true,
    };
    return [
      create,
      label,
      remove(`${object}?dryRun=All`),
      remove(object, { preconditions: { uid: 'x' } }),
      remove(object, { preconditions: { resourceVersion: '1' } }),
      remove(object, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'x' } }),
      remove(object, { propagationPolicy: 'Other' }),
      remove(object, { propagationPolicy: 'Orphan', orphanDependents: true }),
      remove(object, { dryRun: ['Some'] }),
      remove(object, { gracePeriodSeconds: -1, dryRun: ['All'] }),
      remove(object, { gracePeriodSeconds: 'x' }),
      remove(`${object}?propagationPolicy=x`),
      remove(`${object}?gracePeriodSeconds=x`),
      remove(object, { kind: 'Other', apiVersion: 'v1' }),
      remove(`${collection}?labelSelector=batch%3D${names.name}&dryRun=All`),
      remove(`${collection}?labelSelector=batch%3D${names.name}`, { propagationPolicy: 'Background' }),
      { method: 'GET', path: object },
      {
        method: 'PATCH',
        path: object,
        contentType: merge,
        body: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
      },
      remove(object),
      { method: 'PATCH', path: object, contentType: merge, body: { metadata: { finalizers: null } } },
      remove(`${object}?gracePeriodSeconds=0`),
      { method: 'GET', path: object },
    ];
  });
}

/** Options and envelopes of a create, most of them refused. */
function options(fixture: Fixture): Case[] {
  const create = caseOf(fixture, 'create', ({ collection, names, fixture }) => {
    const body = () => fixture.object(names, 'o') as unknown as Editable;
    const send = (
      query: string,
      change: (o: Editable) => void = () => undefined,
      more: Partial<Request> = {},
    ): Step => {
      const object = body();
      change(object);
      return { method: 'POST', path: `${collection}?dryRun=All${query}`, body: object, ...more };
    };
    const text = JSON.stringify(body());
    const doubled = text.replace('"metadata":{', '"metadata":{"labels":{"a":"b","a":"c"},');
    return [
      send(''),
      send('&dryRun=x'),
      send('&fieldManager=me'),
      send(`&fieldManager=${'m'.repeat(129)}`),
      send('&fieldManager=%01'),
      send('&fieldValidation=x'),
      send('&pretty=true'),
      send('', (o) => set(o, 'nothing', { a: 1 })),
      send('&fieldValidation=Strict', (o) => set(o, 'nothing', { a: 1 })),
      send('&fieldValidation=Ignore', (o) => set(o, 'nothing', { a: 1 })),
      { method: 'POST', path: `${collection}?dryRun=All&fieldValidation=Strict`, body: doubled },
      { method: 'POST', path: `${collection}?dryRun=All`, body: doubled },
      send('', (o) => set(o, 'kind', 'Other')),
      send('', (o) => void delete o['kind']),
      send('', (o) => void delete o['apiVersion']),
      send('', (o) => set(o, 'apiVersion', 'other/v1')),
      send('', (o) => void delete (o as { metadata?: unknown }).metadata),
      send('', (o) => set(o.metadata, 'namespace', 'elsewhere')),
      send('', (o) => void delete o.metadata['name']),
      send('', (o) => set(o.metadata, 'name', '')),
      send('', (o) => void Object.assign(o.metadata, { name: 'Bad_Name!' })),
      send('', (o) => void Object.assign(o.metadata, { name: 'a'.repeat(300) })),
      send('', (o) => {
        delete o.metadata['name'];
        set(o.metadata, 'generateName', 'made-');
      }),
      send('', (o) => set(o.metadata, 'generateName', 'Bad_')),
      send('', (o) => set(o.metadata, 'resourceVersion', '1')),
      send('', (o) => set(o.metadata, 'uid', 'mine')),
      send(
        '',
        (o) =>
          void Object.assign(o.metadata, {
            generation: 7,
            creationTimestamp: '2020-01-01T00:00:00Z',
            selfLink: '/x',
            deletionTimestamp: '2020-01-01T00:00:00Z',
            deletionGracePeriodSeconds: 5,
          }),
      ),
      send('', (o) => set(o.metadata, 'labels', { 'bad key!': 'x', ok: 'bad value!' })),
      send('', (o) => set(o.metadata, 'annotations', { 'bad key!': 'x' })),
      send('', (o) => set(o.metadata, 'finalizers', ['plain', 'bad value!'])),
      send('', (o) =>
        set(o.metadata, 'ownerReferences', [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: '' }]),
      ),
      send('', (o) =>
        set(o.metadata, 'ownerReferences', [
          { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1', controller: true },
          { apiVersion: 'v1', kind: 'Pod', name: 'b', uid: '2', controller: true },
        ]),
      ),
      send('', (o) => set(o.metadata, 'managedFields', [{ manager: 'x', operation: 'Other' }])),
      send('', () => undefined, { contentType: 'text/plain' }),
      send('', () => undefined, { contentType: 'application/x-www-form-urlencoded' }),
      send('', () => undefined, { contentType: '' }),
      send('', () => undefined, { contentType: 'application/yaml', body: encodeYaml(body()) }),
      send('', () => undefined, { body: '{' }),
      send('', () => undefined, { body: '' }),
      send('', () => undefined, { body: 'null' }),
      send('', () => undefined, { body: '[]' }),
      send('', () => undefined, { body: '"x"' }),
      send('', () => undefined, { body: text.slice(0, -1) }),
      send('', () => undefined, { body: `${text} x` }),
      { ...(send('') as Request), path: `${collection.replace(names.ns, 'missing-namespace')}?dryRun=All` },
    ];
  });
  const quiet: Case = caseOf(fixture, 'update-options', ({ collection, object, create, names }) => [
    { ...create, silent: true },
    { method: 'GET', path: object, silent: true },
    ...[
      'dryRun=All',
      'dryRun=x',
      'fieldManager=me',
      'fieldValidation=Strict',
      'fieldValidation=x',
      'pretty=true',
    ].map(
      (query): Step =>
        (seen) => ({
          method: 'PUT',
          path: `${object}?${query}`,
          body: edited(latest(seen), (o) => void Object.assign(o, { nothing: 1 })),
        }),
    ),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(latest(seen), (o) => set(o.metadata, 'namespace', 'elsewhere')),
    }),
    (seen) => ({ method: 'PUT', path: object, body: edited(latest(seen), (o) => set(o, 'kind', 'Other')) }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(latest(seen), (o) => void delete o.metadata['name']),
    }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(latest(seen), (o) => set(o.metadata, 'managedFields', [])),
    }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(latest(seen), (o) => set(o.metadata, 'resourceVersion', 'x')),
    }),
    (seen) => ({
      method: 'PUT',
      path: object,
      body: edited(latest(seen), (o) => set(o.metadata, 'resourceVersion', rv(seen[1]))),
    }),
    { method: 'PUT', path: collection, body: {} },
    {
      method: 'DELETE',
      path: `${collection.split(names.ns).join(names.ns)}/${names.name}?gracePeriodSeconds=0`,
      silent: true,
    },
  ]);
  return [create, quiet];
}
