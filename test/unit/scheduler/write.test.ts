import { describe, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { placedKinds } from '../../../cluster/kinds.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { EventRecorder } from '../../../controller/events.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { NamespaceDecision } from '../../../scheduler/types.ts';
import { type Begin, writeDecision } from '../../../scheduler/write.ts';
import { deployment } from '../cluster/objects.ts';

const inCache = { 'kcp.io/cluster': 'team' };
const { signal } = new AbortController();

/** An API with these objects, by name; a patch of another resourceVersion than its object's is a Conflict. */
function apiOf(objects: Readonly<Record<string, KubeObject>>) {
  const sent: string[] = [];
  const atOnce = { now: 0, most: 0 };
  const client = new Client(async ({ method, url, body }) => {
    atOnce.most = Math.max(atOnce.most, ++atOnce.now);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce.now--;
    const name = url.split('/').at(-1) ?? '';
    const object = objects[name];
    const patch = JSON.parse(Buffer.from(body ?? []).toString() || '{}') as KubeObject;
    const version = object?.metadata.resourceVersion;
    const isLate = method === 'PATCH' && patch.metadata.resourceVersion !== version;
    sent.push(`${method} ${name}${isLate ? ' 409' : ''}`);
    const conflict = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Conflict', code: 409 };
    const answer = isLate ? conflict : method === 'PATCH' ? { ...object, ...patch } : object;
    return { status: isLate ? 409 : 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
  });
  return { client, sent, atOnce };
}

const uid = 'Deployment-web';
const ref = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', name: 'web', uid };
const claimRef = {
  group: '',
  version: 'v1',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
};

function placement(name: string, fields: Partial<Placement> = {}): Placement {
  const metadata = { name, namespace: 'shop', uid: name, resourceVersion: '7' };
  const spec = { ref, clusters: ['a'] };
  return { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement', metadata, spec, ...fields };
}

const cached = (object: KubeObject) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...inCache } },
});

function later<T extends KubeObject>(object: T, fields: Partial<T> = {}): T {
  return { ...object, ...fields, metadata: { ...object.metadata, resourceVersion: '9' } };
}

async function write(
  decision: Partial<NamespaceDecision>,
  objects: Record<string, KubeObject>,
  begin?: Begin,
) {
  const { client, sent, atOnce } = apiOf(objects);
  const recorder = { say: () => undefined } as unknown as EventRecorder;
  const all = { create: [], update: [], remove: [], finish: [], annotate: [], ...decision };
  const outcome = writeDecision('team', all as unknown as NamespaceDecision, {
    client,
    reader: client,
    signal,
    recorder,
    begin,
  });
  return { outcome: await outcome.catch((error: { reason: string }) => error.reason), sent, atOnce };
}

const moved = (old: Placement) => ({ ...old, spec: { ref, ...old.spec, clusters: ['b'] } });
const slices = { clusters: { a: { present: true } } };

describe('a write that lost a race', () => {
  const old = placement('one');

  test('goes on top of a status: nothing was decided by that', async () => {
    const update = [{ old: cached(old) as Placement, wanted: moved(cached(old) as Placement) }];
    const { outcome, sent } = await write({ update }, { one: later(old, { status: slices }) });
    expect(sent).toEqual(['PATCH one 409', 'GET one', 'PATCH one']);
    expect(outcome).toBe(0);
  });

  test.each<[string, Partial<Placement>]>([
    ['its shares', { spec: { ref, clusters: ['a'], shares: { a: { phase: 'Leaving' } } } }],
    ['another object', { metadata: { ...old.metadata, uid: 'other' } }],
  ])('does not go on top of %s', async (_what, fields) => {
    const { outcome, sent } = await write(
      { update: [{ old, wanted: moved(old) }] },
      { one: later({ ...old, ...fields }) },
    );
    expect(sent).toEqual(['PATCH one 409', 'GET one']);
    expect(outcome).toBe('Conflict');
  });

  test.each([
    ['', slices],
    [', and will be', { bound: ['a'] }],
  ])("does not go on top of a claim's status, which says where its data is%s", async (_what, status) => {
    const claim = placement('data', {
      spec: { ref: { ...claimRef, name: 'data', uid: 'data' }, clusters: ['a'] },
    });
    const update = [{ old: claim, wanted: moved(claim) }];
    const { outcome } = await write({ update }, { data: later(claim, { status }) });
    expect(outcome).toBe('Conflict');
  });

  test.each<[string, Partial<KubeObject>, string[], unknown]>([
    ['its status', { status: { replicas: 1 } }, ['PATCH web 409', 'GET web', 'PATCH web'], 0],
    [
      'a word of where it is to be',
      { metadata: { ...deployment('web').object.metadata, annotations: { 'atoll.dev/clusters': 'c' } } },
      ['PATCH web 409', 'GET web'],
      'Conflict',
    ],
  ])('of a workload, beside %s', async (_what, fields, requests, result) => {
    const { object } = deployment('web');
    const [kind] = placedKinds.filter((one) => one.kind === 'Deployment');
    if (!kind) throw new Error('no Deployments');
    const annotate = [{ placed: { kind, object: cached(object) }, clusters: 'b' }];
    const { outcome, sent } = await write({ annotate }, { web: later({ ...object, ...fields }) });
    expect(sent).toEqual(requests);
    expect(outcome).toBe(result);
  });

  test('beside others that did not is no failure of the Namespace: it says how many', async () => {
    const other = placement('other');
    const update = [old, other].map((one) => ({ old: one, wanted: moved(one) }));
    const changed = later(old, { spec: { ref, clusters: ['c'] } });
    expect((await write({ update }, { one: changed, other })).outcome).toBe(1);
    expect(
      (await write({ update }, { one: changed, other: later(other, { spec: { ref, clusters: [] } }) }))
        .outcome,
    ).toBe('Conflict');
  });
});

/** Deployments of these names, each with its record, of which a decision moves all. */
function moving(names: readonly string[]) {
  const [kind] = placedKinds.filter((one) => one.kind === 'Deployment');
  if (!kind) throw new Error('no Deployments');
  const objects = names.map((name) => deployment(name).object);
  const records = names.map((name, i) =>
    placement(`${name}.deployments.apps`, {
      spec: { ref: { ...ref, name, uid: objects[i]?.metadata.uid ?? '' }, clusters: ['a'] },
    }),
  );
  const update = records.map((old) => ({ old, wanted: { ...old, spec: { ...old.spec, clusters: ['b'] } } }));
  const annotate = objects.map((object) => ({ placed: { kind, object }, clusters: 'b' }));
  const known = Object.fromEntries([...objects, ...records].map((one) => [one.metadata.name, one]));
  return { decision: { update, annotate } as Partial<NamespaceDecision>, records, known };
}

const some = (count: number) => Array.from({ length: count }, (_, i) => `web-${i}`);

test('an annotation follows its own record, and waits for no other', async () => {
  const names = some(20);
  const { decision, known } = moving(names);
  const { outcome, sent } = await write(decision, known);
  expect(outcome).toBe(0);
  expect(sent).toHaveLength(2 * names.length);
  for (const name of names) {
    const [record, annotation] = [
      sent.indexOf(`PATCH ${name}.deployments.apps`),
      sent.indexOf(`PATCH ${name}`),
    ];
    expect(record).toBeGreaterThanOrEqual(0);
    expect(annotation).toBeGreaterThan(record);
  }
  expect(sent.indexOf('PATCH web-0')).toBeLessThan(sent.indexOf('PATCH web-19.deployments.apps'));
});

test('of many each record comes first, and then the annotations', async () => {
  const names = some(60);
  const { decision, known } = moving(names);
  const { outcome, sent } = await write(decision, known);
  expect(outcome).toBe(0);
  expect(sent.slice(0, 60).every((one) => one.endsWith('.deployments.apps'))).toBe(true);
  expect(sent.slice(60).sort()).toEqual(names.map((name) => `PATCH ${name}`).sort());
});

test.each([20, 60])(
  'of %d, one whose record could not be written is annotated with nothing',
  async (count) => {
    const { decision, records, known } = moving(some(count));
    const [old] = records;
    const changed = old && later(old, { spec: { ref, ...old.spec, clusters: ['c'] } });
    const { outcome, sent } = await write(decision, {
      ...known,
      'web-0.deployments.apps': changed,
    } as typeof known);
    expect(outcome).toBe(1);
    expect(sent).toContain('PATCH web-0.deployments.apps 409');
    expect(sent).not.toContain('PATCH web-0');
    expect(sent).toContain('PATCH web-1');
  },
);

test('what has a record that says so already is annotated', async () => {
  const { decision, known } = moving(some(2));
  const { outcome, sent } = await write({ annotate: decision.annotate ?? [] }, known);
  expect(outcome).toBe(0);
  expect(sent).toEqual(['PATCH web-0', 'PATCH web-1']);
});

test.each([
  ['some', 40, 16],
  ['many, for which all others stand back,', 70, 64],
])('of %s so many are under way at once', async (_, count, most) => {
  const { decision, known } = moving(some(count));
  const { outcome, atOnce } = await write(decision, known);
  expect(outcome).toBe(0);
  expect(atOnce.most).toBe(most);
});

describe('the first shares where it comes to', () => {
  const old = placement('one', { spec: { ref, clusters: ['a'], shares: { a: { phase: 'Active' } } } });
  const begun = () => {
    const told: string[] = [];
    const begin: Begin = (_cluster, wanted, was) => ({
      placement: {
        ...wanted,
        spec: { ref, clusters: ['b'], shares: { ...was?.spec?.shares, b: { phase: 'Joining' } } },
        status: { conditions: [] },
      },
      made: () => void told.push('made'),
      failed: () => void told.push('failed'),
    });
    return { told, begin };
  };

  test('are one write with where it is to be', async () => {
    const { told, begin } = begun();
    const { outcome, sent } = await write({ update: [{ old, wanted: moved(old) }] }, { one: old }, begin);
    expect([sent, told, outcome]).toEqual([['PATCH one'], ['made'], 0]);
  });

  test('are told over nothing that somebody has said meanwhile: what was decided is, without them', async () => {
    const { told, begin } = begun();
    const update = [{ old: cached(old) as Placement, wanted: moved(cached(old) as Placement) }];
    const { outcome, sent } = await write({ update }, { one: later(old, { status: slices }) }, begin);
    expect([sent, told, outcome]).toEqual([
      ['PATCH one 409', 'PATCH one 409', 'GET one', 'PATCH one'],
      ['failed'],
      0,
    ]);
  });
});
