import { setTimeout } from 'node:timers/promises';
import { bundled, startAtoll } from '../atoll/atoll.ts';
import { atoll } from '../atoll/kubectl.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import { measureDecisions } from './access.ts';
import { measureApplyToPresent } from './apply.ts';
import { auditPolicies, startAudited } from './audit.ts';
import { measureBurst } from './burst.ts';
import { measureFanout } from './fanout.ts';
import { connect, fill } from './load.ts';
import { measureCounting } from './metrics.ts';
import { besideFlood, besideWriters } from './neighbours.ts';
import { type Peers, peers, residentMiB, startBoth } from './peers.ts';
import { placementParts } from './placement/parts.ts';
import { print, row } from './table.ts';
import { startTenants } from './tenants.ts';
import { accountGets, creates, gets, longLists, reads } from './verbs.ts';

/** Ratios above 1 mean that Atoll is better. The two servers take turns, so that a slow moment hits both. */
const parts = { verbs, memory, watches, etcd, apply, burst, access, audit, tenants, placement };
/** Names of parts, with commas between them; `create` is that row of `verbs` alone. Default: all. */
const only = process.env['BENCH_ONLY']?.split(',');

print(['figure', 'Atoll', 'kube-apiserver + etcd', 'ratio']);
print(['---', '---', '---', '---']);
for (const [name, part] of Object.entries(parts)) {
  const isPart = (one: string) => one === name || (part === placement && one.startsWith('placement-'));
  if (only === undefined || only.some(isPart) || (part === verbs && only.includes('create'))) await part();
}

/** On clusters that are simulated: each figure beside its goal. `placement-restart` is that figure alone. */
async function placement(): Promise<void> {
  for (const [name, part] of Object.entries(placementParts)) {
    if (!only || only.includes('placement') || only.includes(`placement-${name}`)) await part();
  }
}

async function verbs(): Promise<void> {
  const { both, ready, stop } = await startBoth();
  try {
    row('ready after process start, ms', ready, 'less');
    for (const clients of [1, 16, 64, 512]) {
      await creates(both, 'create', clients);
      if (clients <= 64 && only?.includes('create') !== true) await reads(both, clients);
    }
    if (only?.includes('create') !== true) await longLists(both);
  } finally {
    await stop();
  }
}

async function memory(): Promise<void> {
  const { both, stop } = await startBoth();
  try {
    await memoryRow('RSS empty, MiB', both);
    for (const peer of both) {
      const { client, close } = await connect(peer.kubeconfig, 64);
      await fill(client, 20_000, 'fill');
      close();
    }
    await memoryRow('RSS with 20,000 objects of 1 KiB, MiB', both);
    await setTimeout(70_000);
    await memoryRow('the same after 70 s in which nothing was asked, MiB', both);
  } finally {
    await stop();
  }
}

/** In one process: what the other server takes for it cannot be told apart from its requests. */
async function access(): Promise<void> {
  print(['metrics: processor µs to count a request', measureCounting().toFixed(2), '-', '-']);
  print(['RBAC decision, 10,000 bindings: p99 µs', measureDecisions(10_000).toFixed(2), '-', '-']);
  const ours = await startAtoll({ program: bundled });
  try {
    for (const clients of [1, 16]) await accountGets(ours, clients);
  } finally {
    await ours.dispose();
  }
}

/** What a tenant notices of others. The ratio is to when they do nothing. */
async function tenants(): Promise<void> {
  const count = 1000;
  const all = await startTenants(count + 1);
  try {
    for (const perSecond of [1, undefined]) {
      const how = perSecond === undefined ? 'as fast as it can' : 'once a second';
      const { alone, during, noise, refused } = await besideWriters(all, count, perSecond);
      const name = `reads of one tenant while each of ${count} others writes ${how}`;
      print([`${name}: writes a second, refused`, `${noise.toFixed(0)}, ${refused}`, '-', '-']);
      row(`${name}, beside none: p50 ms`, [during.p50, alone.p50], 'less');
      row(`${name}, beside none: p99 ms`, [during.p99, alone.p99], 'less');
    }
    for (const connections of [64, 512]) {
      const { alone, during, noise, refused } = await besideFlood(all, 10, connections);
      const name = `100 reads a second by each of 10 tenants while another reads over ${connections} connections`;
      print([`${name}: its reads a second, refused`, `${noise.toFixed(0)}, ${refused}`, '-', '-']);
      row(`${name}, beside none: per second`, [during.perSecond, alone.perSecond], 'more');
      row(`${name}, beside none: p99 ms`, [during.p99, alone.p99], 'less');
    }
  } finally {
    await all.stop();
  }
}

/** Beside a server without: the ratio is what is left. */
async function audit(): Promise<void> {
  for (const policy of auditPolicies) {
    const { both, stop } = await startAudited(policy);
    try {
      for (const clients of [16, 64]) await gets(both, clients, `audit ${policy}, beside none: get`, 5);
      await creates(both, `audit ${policy}, beside none: create`, 64, 5);
    } finally {
      await stop();
    }
  }
}

async function memoryRow(name: string, [ours, theirs]: Peers): Promise<void> {
  row(name, [await residentMiB(ours), await residentMiB(theirs)], 'less');
}

async function watches(): Promise<void> {
  const { both, stop } = await startBoth();
  try {
    for (const perSecond of [20, 100]) {
      const scene = { watchers: 1000, perSecond, seconds: 5 };
      const [ours, theirs] = [await measureFanout(both[0], scene), await measureFanout(both[1], scene)];
      const name = `watch, 1,000 watchers of one kind, ${perSecond} writes a second`;
      row(`${name}: write to event p99 ms`, [ours.p99, theirs.p99], 'less');
      row(`${name}: processor µs per event`, [ours.microsPerEvent, theirs.microsPerEvent], 'less');
      // Who ends slow watches is spared their events, and its p99 tells of the others only.
      const lost = [ours.lost, theirs.lost].map((share) => `${(share * 100).toFixed(0)} %`);
      print([`${name}: never seen, the watch being ended`, ...lost, '-']);
    }
  } finally {
    await stop();
  }
}

/** Both servers on the same etcd: its disk and its log are the same for both. */
async function etcd(): Promise<void> {
  const kubernetes: Kubernetes = await startKubernetes({ name: 'peer', fsync: true, apiOnly: true });
  const ours = await startAtoll({ args: ['--storage', `etcd://${kubernetes.etcd}/atoll`] });
  try {
    for (const clients of [1, 16, 64, 512]) {
      await creates(peers(ours, kubernetes), 'create on the same etcd', clients);
    }
  } finally {
    await ours.dispose();
    await kubernetes.stop();
  }
}

/** From an acknowledged apply to the object's presence on a real physical cluster. */
async function apply(): Promise<void> {
  const physical = await startKubernetes({ name: 'physical' });
  const ours = await startAtoll();
  try {
    const { kubeconfig } = physical;
    const added = await atoll(ours.kubeconfig, 'cluster', 'add', 'physical', '--kubeconfig', kubeconfig);
    if (added.code !== 0) throw new Error(added.stderr);
    const paced = await measureApplyToPresent(ours.kubeconfig, kubeconfig, { count: 200, perSecond: 10 });
    const name = 'apply to present on a physical cluster';
    print([`${name}, 10 a second: p50 ms`, paced.p50.toFixed(0), '-', '-']);
    print([`${name}, 10 a second: p99 ms`, paced.p99.toFixed(0), '-', '-']);
    const { seconds } = await measureApplyToPresent(ours.kubeconfig, kubeconfig, { count: 1000 });
    print([`${name}, 1,000 at once: all present after, s`, seconds.toFixed(1), '-', '-']);
  } finally {
    await ours.dispose();
    await physical.stop();
  }
}

/** What one client notices of another's thousand Deployments. There is no peer: the ratio is to when nothing else happens. */
async function burst(): Promise<void> {
  const args = ['--clusters', '2', '--nodes', '20'];
  const demo = await startAtoll({ command: 'demo', args, program: bundled });
  try {
    const { idle, during, refused, opened, ...seconds } = await measureBurst(demo.kubeconfig, 1000);
    const name = 'creates of another client during a burst of 1,000 Deployments';
    const rows = [
      ['p50 ms', during.p50, idle.p50],
      ['p99 ms', during.p99, idle.p99],
      ['longest ms', during.max, idle.max],
    ] as const;
    for (const [figure, busy, quiet] of rows) {
      const times = `${(busy / quiet).toFixed(1)}x idle`;
      print([`${name}: ${figure}`, busy.toFixed(1), `${quiet.toFixed(1)} (idle)`, times]);
    }
    print([`${name}: new connections refused`, `${refused} of ${opened}`, '-', '-']);
    print(['all applied after, s', seconds.appliedSeconds.toFixed(1), '-', '-']);
    print(['all available after, s', seconds.runningSeconds.toFixed(1), '-', '-']);
  } finally {
    await demo.dispose();
  }
}
