import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serversAdmission } from '../../../apiserver/admission/servers.ts';
import type { ApiServer } from '../../../apiserver/options.ts';
import { createApiServer } from '../../../apiserver/server.ts';
import { Client } from '../../../client/client.ts';
import { heartbeatsLabel } from '../../../cluster/heartbeats.ts';
import { serverLabel, syncerManagerUser } from '../../../cluster/names.ts';
import { runLeader, type Term } from '../../../controller/leader.ts';
import { type Members, startMembers } from '../../../controller/members.ts';
import { ensureSystemNamespaces } from '../../../controller/namespace/furnish.ts';
import { silentLogger } from '../../../kube/log.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { systemClient } from '../../../server/client.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { until } from '../../world/objects.ts';

const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const names = Array.from({ length: 60 }, (_, i) => `syncers/${i}`);
let store: Store;
let server: ApiServer;
let life: AbortController;
let admin: Client;
beforeEach(async () => {
  store = openMemory();
  server = createApiServer({ store, logicalClusters: true, authenticate: [] });
  admin = new Client(server.transport({ name: 'admin', groups: ['system:masters'] }), { cluster: 'root' });
  await ensureSystemNamespaces(admin, 'root');
  life = new AbortController();
});
afterEach(() => life.abort());

interface Server {
  members: Members;
  /** What it leads now. */
  leads: Set<string>;
  /** Ends as a process that is told to stop does. */
  stop(): Promise<void>;
  /** It says no more that it is there, and goes on. */
  mute(): void;
}

/** Who led each name last. */
const led = new Map<string, Term>();
/** What was led while another still held it. */
const twice: string[] = [];

function start(): Server {
  const own = new AbortController();
  const saying = new AbortController();
  life.signal.addEventListener('abort', () => own.abort());
  own.signal.addEventListener('abort', () => saying.abort());
  const { signal } = own;
  setMaxListeners(0, signal, saying.signal);
  // With the rights that it has in the program: no more are needed.
  const client = systemClient(server, syncerManagerUser, 'root');
  const members = startMembers({ client, signal: saying.signal, logger: silentLogger, renewMs: 50 });
  const leads = new Set<string>();
  const stopped = names.map((name) =>
    runLeader({
      store,
      name,
      signal,
      logger: silentLogger,
      ttlMs: 200,
      isMine: () => members.isMine(name),
      lead: async (term) => {
        if (led.get(name)?.held()) twice.push(name);
        led.set(name, term);
        leads.add(name);
        await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }));
        leads.delete(name);
      },
    }),
  );
  const stop = async () => {
    own.abort();
    await Promise.all([...stopped, members.stopped]);
  };
  return { members, leads, stop, mute: () => saying.abort() };
}

const sum = (...all: Server[]) => all.reduce((count, { leads }) => count + leads.size, 0);
/** By the hashes of ids that are drawn anew each time: further off than this is one in a hundred thousand. */
const about = (server: Server, part: number) =>
  server.leads.size > (names.length / part) * 0.2 && server.leads.size < (names.length / part) * 1.8;

test('each server leads its part; one that comes gets one, of one that goes the others take it', async () => {
  const one = start();
  await until('all led by the first', () => one.leads.size === names.length);
  const [two, three] = [start(), start()];
  await until(
    'each has a third',
    () => [one, two, three].every((each) => about(each, 3)) && sum(one, two, three) === names.length,
  );
  await two.stop();
  await until('of one that stops', () => sum(one, three) === names.length);
  const { items } = await admin.list(leases, { namespace: 'kube-system' });
  expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(
    [one.members.id, three.members.id].sort(),
  );
  three.mute();
  await until('of one that says nothing', () => names.every((name) => one.members.isMine(name)));
  // It cannot know that it is not heard, and leads on: the lease says that nobody else does.
  await three.stop();
  await until('all again', () => one.leads.size === names.length);
  expect(twice).toEqual([]);
});

test('one whose Lease is deleted, or loses its label, is there again by its next word', async () => {
  const [one, two] = [start(), start()];
  const both = () => names.some((name) => !one.members.isMine(name));
  await until('both are there', both);
  const target = { namespace: 'kube-system', name: two.members.id };
  const labels = { 'atoll.dev/server': null };
  await admin.patch(leases, target, 'merge', { metadata: { labels } });
  await until('unseen', () => !both());
  await until('seen again', both);
  await admin.delete(leases, target);
  await until('gone', () => !both());
  await until('there again', both);
});

test('whoever may write Leases in kube-system can pass none off as a server’s, and delete none of one', async () => {
  const api = createApiServer({
    store,
    logicalClusters: true,
    authenticate: [],
    admission: [serversAdmission],
  });
  const name = 'atoll-00000000-0000-4000-8000-000000000000';
  const server = await systemClient(api, syncerManagerUser, 'root').create(
    leases,
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, labels: { [serverLabel]: 'true' } },
    },
    { namespace: 'kube-system' },
  );
  // Who may do all there is: what anybody else is given is less.
  const eve = new Client(api.transport({ name: 'eve', groups: ['system:masters'] }), { cluster: 'root' });
  const write = (metadata: ObjectMeta) =>
    eve.create(
      leases,
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata },
      { namespace: metadata.namespace ?? 'kube-system' },
    );
  const refused = { reason: 'Forbidden', message: expect.stringContaining('written by that server alone') };
  await expect(write({ name: 'posing', labels: { [serverLabel]: '' } })).rejects.toMatchObject(refused);
  await expect(write({ name: name.replace('0', '1') })).rejects.toMatchObject(refused);
  await expect(write({ name: 'speaking', labels: { [heartbeatsLabel]: 'true' } })).rejects.toMatchObject(
    refused,
  );
  const target = { namespace: 'kube-system', name: 'plain' };
  await write({ name: 'plain' });
  const labels = { [serverLabel]: 'true' };
  await expect(eve.patch(leases, target, 'merge', { metadata: { labels } })).rejects.toMatchObject(refused);
  const spec = { renewTime: '2999-01-01T00:00:00.000000Z' };
  await expect(eve.patch(leases, { ...target, name }, 'merge', { spec })).rejects.toMatchObject(refused);
  await expect(eve.delete(leases, { ...target, name })).rejects.toMatchObject(refused);
  await expect(eve.deleteCollection(leases, { namespace: 'kube-system' })).rejects.toMatchObject(refused);
  await eve.patch(leases, target, 'merge', { spec });
  expect((await admin.get(leases, { ...target, name })).metadata.resourceVersion).toBe(
    server.metadata.resourceVersion,
  );
});
