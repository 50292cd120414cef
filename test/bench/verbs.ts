import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Atoll } from '../atoll/atoll.ts';
import { must } from '../atoll/kubectl.ts';
import { bareServer } from './bare.ts';
import { configMap, configMaps, connect, fill } from './load.ts';
import { type Peers, pidsOf } from './peers.ts';
import { figures, row } from './table.ts';
import { ask, inTurns, post, type Turn } from './turns.ts';

const all = '/api/v1/namespaces/default/configmaps';

export async function creates(both: Peers, what: string, clients: number, times?: number): Promise<void> {
  const create = await inTurns(
    both,
    clients,
    (peer) => {
      const run = `c${clients}-${peer.name}-${process.hrtime.bigint()}`;
      return (i) => post(all, configMap(`${run}-${i}`));
    },
    times,
  );
  figures(`${what}, ${clients} clients`, create);
  processor(`${what}, ${clients} clients`, create);
}

/** What a request costs whoever answers it, waiting apart: on a machine that is shared, the figure that stays. */
function processor(name: string, [ours, theirs]: readonly [Turn, Turn]): void {
  row(`${name}: processor µs per request`, [ours.processorMicros, theirs.processorMicros], 'less');
}

export async function reads(both: Peers, clients: number): Promise<void> {
  const get = await gets(both, clients);
  if (clients === 64) await besideFastify(both, get);
  figures(
    `list of 500, ${clients} clients`,
    await inTurns(both, clients, () => () => ask(`${all}?limit=500`)),
  );
}

/** Answers by what one is asked for. */
export async function gets(both: Peers, clients: number, what = 'get', times?: number) {
  const names = Array.from({ length: 100 }, (_, i) => `seed-${clients}-${i}`);
  for (const peer of both) {
    const { client, close } = await connect(peer.kubeconfig, 8);
    for (const name of names) await client.create(configMaps, configMap(name));
    close();
  }
  const get = (i: number) => ask(`${all}/${names[Math.abs(i) % names.length]}`);
  const seen = await inTurns(both, clients, () => get, times);
  figures(`${what}, ${clients} clients`, seen);
  processor(`${what}, ${clients} clients`, seen);
  return get;
}

/** One server, asked by a ServiceAccount and by its administrator: the ratio is what the former pays more. */
export async function accountGets(server: Atoll, clients: number): Promise<void> {
  const pids = () => pidsOf(server);
  const account = { name: 'account', kubeconfig: await accountKubeconfig(server), pids };
  const administrator = { name: 'administrator', kubeconfig: server.kubeconfig, pids };
  const name = `seed-account-${clients}`;
  const { client, close } = await connect(server.kubeconfig, 1);
  await client.create(configMaps, configMap(name));
  close();
  const get = ask(`${all}/${name}`);
  const seen = await inTurns([account, administrator], clients, () => () => get, 5);
  const what = `get by a ServiceAccount, beside the administrator, ${clients} clients`;
  figures(what, seen);
  processor(what, seen);
}

/** Of `reader` in `default`, who may see what is there. */
async function accountKubeconfig({ kubeconfig, dataDir }: Atoll): Promise<string> {
  const path = join(dataDir, 'account.kubeconfig');
  const config = new KubeConfig();
  config.loadFromString(await readFile(kubeconfig, 'utf8'));
  const reader = ['rolebinding', 'reader', '--clusterrole=view', '--serviceaccount=default:reader'];
  const had = await must(kubeconfig, 'get', 'serviceaccount', 'reader', '--ignore-not-found', '-o', 'name');
  if (had === '') {
    await must(kubeconfig, 'create', 'serviceaccount', 'reader');
    await must(kubeconfig, 'create', ...reader);
  }
  const token = await must(kubeconfig, 'create', 'token', 'reader');
  config.loadFromClusterAndUser(config.getCurrentCluster() as never, {
    name: 'reader',
    token: token.trim(),
  });
  await writeFile(path, config.exportConfig(), { mode: 0o600 });
  return path;
}

/** How much of what its HTTP server could do at most Atoll does. */
async function besideFastify([ours]: Peers, get: (i: number) => ReturnType<typeof ask>): Promise<void> {
  const bare = await bareServer();
  try {
    const [atoll, fastify] = await inTurns([ours, bare], 64, () => get);
    row('get, 64 clients, beside a bare fastify: per second', [atoll.perSecond, fastify.perSecond], 'more');
  } finally {
    await bare.close();
  }
}

/** One list of 10,000 objects, not in pages. */
export async function longLists(both: Peers): Promise<void> {
  const many = '/api/v1/namespaces/many/configmaps';
  for (const peer of both) {
    const { client, close } = await connect(peer.kubeconfig, 64);
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many' } });
    await fill(client, 10_000, 'many', 'many');
    close();
  }
  const [ours, theirs] = await inTurns(both, 4, () => () => ask(many));
  row('list of 10,000, 4 clients: MiB per second', [ours.mibPerSecond, theirs.mibPerSecond], 'more');
  row('list of 10,000, 4 clients: p99 ms', [ours.p99, theirs.p99], 'less');
}
