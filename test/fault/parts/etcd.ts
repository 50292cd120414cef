import { setTimeout as sleep } from 'node:timers/promises';
import { openEtcd } from '../../../storage/etcd/open.ts';
import type { Store } from '../../../storage/store.ts';
import { type Etcd, startCluster } from '../../etcd/etcd.ts';
import { type FaultyProxy, startProxy } from '../../etcd/proxy.ts';
import { check } from '../check.ts';
import { ALL, Clients, list } from '../clients.ts';
import { apiClients } from '../etcd/api.ts';
import { type Fault, faults } from '../etcd/faults.ts';
import { Leader } from '../etcd/leader.ts';
import { changeOf, type Line, type Recorder } from '../journal.ts';
import { checkLinearizable } from '../linearizable.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { Random } from '../random.ts';

const SERVERS = 2;
const CALM_MS = 300;
const SETTLED_MS = 60_000;

let members: Etcd[] = [];

/** Two servers on one etcd of three members, and everything that clients of both were told. */
export const etcd: FaultPart = {
  name: 'etcd',
  about: `two stores, two API servers and a leader on an etcd of three: ${faults.map(({ name }) => name).join(', ')}`,
  runs: 40,
  weight: 3,
  parallel: 1,
  bugs: [
    { name: 'stale-reads', about: 'a read is answered from the cache, unconfirmed', seed: 1, within: 10 },
    { name: 'no-fence', about: 'a leader that was paused writes without its token', seed: 1, within: 20 },
  ],
  async prepare() {
    members = await startCluster(3);
    return async () => {
      await Promise.all(members.map((member) => member.stop()));
    };
  },
  run,
};

async function run(run: Run): Promise<RunResult> {
  const random = new Random(run.seed);
  const prefix = `/fault-${run.seed}-${process.pid}-${Date.now()}`;
  const proxies: FaultyProxy[][] = [];
  const stores: Store[] = [];
  const behind: Store[] = [];
  const direct = members.map(({ endpoint }) => endpoint);
  const lines: Line[] = [];
  const record: Recorder = (line) => void lines.push(line);
  try {
    for (let i = 0; i < SERVERS; i++) {
      const own = await Promise.all(members.map(({ port }) => startProxy(port)));
      proxies.push(own);
      // Each begins at another member.
      const endpoints = own.map((_proxy, at) => own[(at + i) % own.length]?.endpoint ?? '');
      const spoil = (store: Store) => (run.bug === 'stale-reads' ? unconfirmed(store) : store);
      stores.push(spoil(await openEtcd({ endpoints, prefix, compaction: false })));
      // Objects are not the values that the other clients write: they have a prefix of their own.
      behind.push(spoil(await openEtcd({ endpoints, prefix: `${prefix}-api`, compaction: false })));
    }
    // Nothing but kills and clocks happens between this one and etcd: it sees all that is true.
    const observer = await openEtcd({ endpoints: direct, prefix, compaction: false });
    behind.push(observer);
    const apis = behind.slice(0, SERVERS);
    return await judge(run, random, { observer, stores, apis, proxies, lines, record });
  } finally {
    await Promise.all([...stores, ...behind].map((store) => store.close()));
    await Promise.all(proxies.flat().map((proxy) => proxy.stop()));
  }
}

interface World {
  observer: Store;
  stores: Store[];
  /** The stores of the API servers. */
  apis: Store[];
  proxies: FaultyProxy[][];
  lines: Line[];
  record: Recorder;
}

async function judge(run: Run, random: Random, world: World): Promise<RunResult> {
  const { observer, stores, apis, proxies, lines, record } = world;
  const after = observer.revision;
  record(['watch', 'truth', ALL.start, ALL.end, after]);
  await observer.watch(ALL, {
    after,
    sink: (events) => {
      for (const event of events) record(['event', 'truth', changeOf(event)]);
    },
    onEnd: ({ message }) => record(['note', `truth ended: ${message}`]),
  });
  const stop = new AbortController();
  const load = { writers: 6, hotKeys: 6, coldKeys: 60, watchers: 3, valueBytes: 300, after };
  const clients = stores.map(
    (store, i) => new Clients(store, { ...load, seed: random.bits(), life: `S${i}` }, record, stop.signal),
  );
  const leaders = stores.map((store, i) => new Leader(store, `L${i}`, record, run.bug === 'no-fence'));
  const api = apiClients(apis, random.bits(), stop.signal);
  const running = Promise.all([
    ...clients.map((one) => one.run()),
    ...leaders.map((one) => one.run(random.bits(), stop.signal)),
    api.done,
  ]);
  const counts: Record<string, number> = {};
  const struck = random.between(1, 3);
  for (let i = 0; i < struck; i++) {
    await sleep(CALM_MS);
    // Every kind in its turn, then any.
    const fault = i === 0 ? faults[run.seed % faults.length] : random.pick(faults as [Fault, ...Fault[]]);
    if (fault === undefined) break;
    counts[fault.name] = (counts[fault.name] ?? 0) + 1;
    record(['note', fault.name]);
    await fault.strike({ random, members, proxies, stores, observer });
  }
  await sleep(CALM_MS);
  stop.abort();
  await running;
  await settle(stores, observer, record);
  const { ops, failures } = check(lines, { contiguous: false });
  const tokens = Leader.check(lines, leaders);
  const wrong = checkLinearizable(api.operations);
  counts['acknowledged'] = clients.reduce((sum, one) => sum + one.acknowledged, 0);
  counts['api requests'] = api.operations.length;
  counts['terms'] = leaders.reduce((sum, one) => sum + one.terms, 0);
  return {
    ops: ops + api.operations.length,
    faults: struck,
    failures: [...failures, ...tokens, ...wrong.map((text) => `through the API: ${text}`)],
    counts,
  };
}

/** After it all, every server shows the same, and the observer was told all of it. */
async function settle(stores: readonly Store[], observer: Store, record: Recorder): Promise<void> {
  const deadline = performance.now() + SETTLED_MS;
  for (const [i, store] of [...stores, observer].entries()) {
    for (;;) {
      const mine: Line[] = [];
      await list(store, `end.${i}.${performance.now()}`, ALL, undefined, (line) => void mine.push(line));
      for (const line of mine) record(line);
      if (mine.some(([what]) => what === 'listed')) break;
      if (performance.now() > deadline) throw new Error('a server does not answer after all faults are over');
      await sleep(100);
    }
  }
}

/** A known bug: what the cache has is taken for the newest. */
function unconfirmed(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'get') return (key: string) => target.get(key, { revision: target.revision });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
