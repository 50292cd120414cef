import https from 'node:https';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Authenticator } from '../../../apiserver/plugins.ts';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { RequestMetrics } from '../../../server/metrics/requests.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { eventually } from '../../eventually.ts';
import { type Api, configMap, configMaps, startApi } from './api.ts';

const levels = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations';
const schemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas';

/** `Authorization: Bearer ann,group`. */
const byName: Authenticator = ({ headers }) => {
  const [name = '', ...groups] = (headers['authorization'] ?? '').replace('Bearer ', '').split(',');
  return name === '' ? undefined : { name, groups: [...groups, 'system:authenticated'] };
};

const authority = await createAuthority('test');
const issued = await authority.issueServer(['127.0.0.1']);
const tls = { key: issued.privateKey, cert: issued.certificate, ca: authority.certificate };

/** A store in which reads of what is called held-… wait; tells in which order they came. */
function heldStore() {
  const store = openMemory();
  const get = store.get.bind(store);
  const came: string[] = [];
  const waiting: (() => void)[] = [];
  store.get = async (key, ...more) => {
    const name = /\/(held-[^/]*)$/.exec(key)?.[1];
    if (name !== undefined) {
      came.push(name);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    return get(key, ...more);
  };
  return { store, came, next: () => waiting.shift()?.() };
}

let api: Api;
let url: string;
let held: ReturnType<typeof heldStore>;
let metrics: RequestMetrics;

beforeEach(async () => {
  held = heldStore();
  metrics = new RequestMetrics();
  api = startApi({
    store: held.store,
    authenticate: [byName],
    authorize: () => ({ allowed: true }),
    seats: 12,
    observer: metrics,
  });
  ({ url } = await api.server.listen({ host: '127.0.0.1', port: 0, tls }));
  await ask('admin,system:masters', 'GET', '/version');
  await only({ queues: 64, handSize: 8, queueLengthLimit: 20 });
});

afterEach(() => api.close());

/** global-default has one seat, and borrows none. */
async function only(queuing?: object): Promise<void> {
  const limitResponse = queuing ? { type: 'Queue', queuing } : { type: 'Reject', queuing: null };
  const limited = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse };
  const { status } = await api.call('PATCH', `${levels}/global-default`, { spec: { limited } });
  expect(status).toBe(200);
}

/** Of global-default. */
function figure(name: string): number | undefined {
  const families = metrics.families().filter(({ definition }) => definition.name.endsWith(`_${name}`));
  const found = families[0]?.figures.find(({ labels }) => labels[0] === 'global-default');
  return found?.value;
}

interface Reply {
  status: number;
  headers: object;
  body: string;
}

interface Asking extends Promise<Reply> {
  leave(): void;
}

function ask(who: string, method: string, path: string, body?: 'never'): Asking {
  const headers = { authorization: `Bearer ${who}`, ...(body && { 'content-length': 100 }) };
  const request = https.request(url + path, { method, headers, rejectUnauthorized: false, agent: false });
  const asking = new Promise<Reply>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      const { statusCode: status = 0, headers: got } = response;
      response.on('end', () => resolve({ status, headers: got, body: String(Buffer.concat(parts)) }));
      response.on('error', reject);
    });
  });
  if (body === undefined) request.end();
  else request.flushHeaders();
  return Object.assign(asking, { leave: () => request.destroy() });
}

function get(who: string, name: string, prefix = ''): Asking {
  return ask(who, 'GET', `${prefix}${configMaps}/held-${name}`);
}

/** `count` wait: one more than that was let in. */
async function flood(who: string, count: number, prefix = ''): Promise<Asking[]> {
  const before = held.came.length;
  const all = [get(who, `${who}-0`, prefix)];
  await eventually(() => expect(held.came.length).toBe(before + 1));
  for (let i = 1; i <= count; i++) all.push(get(who, `${who}-${i}`, prefix));
  return all;
}

async function letAllGo(asked: readonly Promise<unknown>[]): Promise<void> {
  let open = true;
  const all = Promise.allSettled(asked).then(() => {
    open = false;
  });
  await eventually(() => {
    held.next();
    expect(open).toBe(false);
  });
  await all;
}

test("who asks for little is served between the many of another's", async () => {
  const many = await flood('flood', 30);
  const one = get('ann', 'ann');
  await eventually(() => expect(figure('current_inqueue_requests')).toBe(31));
  await letAllGo([...many, one]);
  expect((await one).status).toBe(404);
  expect(held.came.indexOf('held-ann')).toBeLessThan(16);
});

test('a logical cluster has its queues, however many its users are', async () => {
  const id = await api.addCluster('root:noisy');
  const other = await api.addCluster('root:quiet');
  const first = await flood('flood', 0, `/clusters/${id}`);
  const many = Array.from({ length: 100 }, (_, i) => get(`u${i}`, `u${i}`, `/clusters/${id}`));
  const one = get('ann', 'ann', `/clusters/${other}`);
  await eventually(() => expect(figure('current_inqueue_requests')).toBe(101));
  await letAllGo([...first, ...many, one]);
  expect((await one).status).toBe(404);
  expect(held.came.indexOf('held-ann')).toBeLessThan(40);
});

test('what no queue has room for is refused, and says by whom; administrators are not held up', async () => {
  await only();
  const [first] = await flood('ann', 0);
  const refused = await get('bob', 'bob');
  const level = (await api.call('GET', `${levels}/global-default`)).body.metadata.uid;
  const schema = (await api.call('GET', `${schemas}/global-default`)).body.metadata.uid;
  expect(refused).toMatchObject({
    status: 429,
    body: 'Too many requests, please try again later.\n',
    headers: {
      'retry-after': '1',
      'x-kubernetes-pf-flowschema-uid': schema,
      'x-kubernetes-pf-prioritylevel-uid': level,
    },
  });
  const exempt = (await api.call('GET', `${schemas}/exempt`)).body.metadata.uid;
  expect(await ask('admin,system:masters', 'GET', configMaps)).toMatchObject({
    status: 200,
    headers: { 'x-kubernetes-pf-flowschema-uid': exempt },
  });
  expect((await ask('bob', 'GET', '/readyz')).status).toBe(200);
  held.next();
  expect((await first)?.status).toBe(404);
  expect((await ask('bob', 'GET', configMaps)).status).toBe(200);
});

test('nobody sends a body before there is a seat', async () => {
  await only();
  const [first] = await flood('ann', 0);
  const refused = ask('bob', 'POST', configMaps, 'never');
  expect((await refused).status).toBe(429);
  held.next();
  await first;
});

test('what was answered before its body came gives its seat back', async () => {
  await only({ queues: 64, handSize: 8, queueLengthLimit: 20 });
  const late = await ask('ann', 'POST', `${configMaps}?timeout=80ms`, 'never');
  expect(late.status).toBe(504);
  await eventually(() => expect(figure('current_executing_seats')).toBe(0));
  expect((await ask('bob', 'GET', configMaps)).status).toBe(200);
});

test('who leaves before its body came gives its seat back', async () => {
  const gone = ask('ann', 'POST', configMaps, 'never');
  const told = expect(gone).rejects.toThrow();
  await eventually(() => expect(figure('current_executing_seats')).toBe(1));
  gone.leave();
  await told;
  await eventually(() => expect(figure('current_executing_seats')).toBe(0));
});

test('however long the requests of a logical cluster last, there are seats for the next', async () => {
  const limited = { nominalConcurrencyShares: 100, lendablePercent: 0 };
  expect((await api.call('PATCH', `${levels}/global-default`, { spec: { limited } })).status).toBe(200);
  const [noisy, quiet] = [await api.addCluster('root:noisy'), await api.addCluster('root:quiet')];
  const many = Array.from({ length: 30 }, (_, i) => get(`u${i}`, `u${i}`, `/clusters/${noisy}`));
  await eventually(() => expect(figure('current_inqueue_requests')).toBeGreaterThan(20));
  expect((await ask('ann', 'GET', `/clusters/${quiet}${configMaps}`)).status).toBe(200);
  expect(held.came.length).toBeLessThan(10);
  await letAllGo(many);
});

test('who leaves while it waits is not served', async () => {
  const [first, second, third] = await flood('ann', 2);
  const gone = expect(second).rejects.toThrow();
  await eventually(() => expect(figure('current_inqueue_requests')).toBe(2));
  second?.leave();
  await gone;
  await eventually(() => expect(figure('current_inqueue_requests')).toBe(1));
  await letAllGo([first, third] as Asking[]);
  expect(held.came).toEqual(['held-ann-0', 'held-ann-2']);
});

test('who waits for a quarter of its time is refused', async () => {
  const [first] = await flood('ann', 0);
  const late = await ask('bob', 'GET', `${configMaps}/held-bob?timeout=80ms`);
  expect(late.status).toBe(429);
  held.next();
  expect((await first)?.status).toBe(404);
  expect(held.came).toEqual(['held-ann-0']);
});

test('a watch has a seat until it has begun', async () => {
  await only();
  await api.call('POST', configMaps, configMap('here'));
  const watching = https.get(`${url}${configMaps}?watch=1`, {
    headers: { authorization: 'Bearer ann' },
    rejectUnauthorized: false,
    agent: false,
  });
  const headers = await new Promise<object>((resolve) => {
    watching.on('response', (response) => response.once('data', () => resolve(response.headers)));
  });
  expect(headers).toHaveProperty('x-kubernetes-pf-flowschema-uid');
  expect((await ask('bob', 'GET', configMaps)).status).toBe(200);
  watching.on('error', () => undefined);
  watching.destroy();
});

test("a tenant's own FlowSchemas count for nothing, and say whether their level is there", async () => {
  const id = await api.addCluster('root:tenant');
  const prefix = `/clusters/${id}`;
  const rules = [
    {
      subjects: [{ kind: 'User', user: { name: 'ann' } }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    },
  ];
  const spec = { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 2, rules };
  const metadata = { name: 'mine' };
  const made = await api.call('POST', `${prefix}${schemas}`, { metadata, spec });
  expect(made.status).toBe(201);
  const mine = await api.call('GET', `${prefix}${schemas}/mine`);
  expect(mine.body.status.conditions).toMatchObject([{ type: 'Dangling', status: 'False', reason: 'Found' }]);
  const answer = await ask('ann', 'GET', `${prefix}/version`);
  const { uid } = (await api.call('GET', `${schemas}/global-default`)).body.metadata;
  expect(answer.headers).toMatchObject({ 'x-kubernetes-pf-flowschema-uid': uid });
});

test('every logical cluster has the objects that every Kubernetes has', async () => {
  const id = await api.addCluster('root:tenant');
  for (const prefix of ['', `/clusters/${id}`]) {
    const { body } = await api.call('GET', `${prefix}${schemas}`);
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toHaveLength(11);
    const dangling = body.items.map(
      (item: { status: { conditions: { status: string }[] } }) => item.status.conditions[0]?.status,
    );
    expect(new Set(dangling)).toEqual(new Set(['False']));
    expect((await api.call('GET', `${prefix}${levels}`)).body.items).toHaveLength(8);
    const again = { metadata: { name: 'exempt' }, spec: { type: 'Exempt' } };
    expect((await api.call('POST', `${prefix}${levels}`, again)).status).toBe(409);
  }
});

test('the objects of root count as they are changed', async () => {
  const own = {
    metadata: { name: 'mine' },
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  };
  expect((await api.call('POST', levels, own)).status).toBe(201);
  const rules = [
    {
      subjects: [{ kind: 'Group', group: { name: 'team' } }],
      resourceRules: [
        { verbs: ['*'], apiGroups: ['*'], resources: ['configmaps'], namespaces: ['*'], clusterScope: true },
      ],
    },
  ];
  const spec = { priorityLevelConfiguration: { name: 'mine' }, matchingPrecedence: 3, rules };
  const { body } = await api.call('POST', schemas, { metadata: { name: 'mine' }, spec });
  const matched = () => ask('eve,team', 'GET', configMaps).then(({ headers }) => headers);
  expect(await matched()).toMatchObject({ 'x-kubernetes-pf-flowschema-uid': body.metadata.uid });
  expect((await api.call('DELETE', `${levels}/mine`)).status).toBe(200);
  expect(await matched()).not.toMatchObject({ 'x-kubernetes-pf-flowschema-uid': body.metadata.uid });
});
