import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { InterruptedError } from '../../../cli/errors.ts';
import { main } from '../../../cli/program.ts';
import { rebalance } from '../../../cli/rebalance.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Behaviour } from '../../../sim/pods/behaviour.ts';
import { deployment, find, isReady, resources, settled, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

/** So that there is time to see that one is on its way. */
const slow: Behaviour = {
  name: 'slow',
  scheduledAfterMs: [20, 60],
  readyAfterMs: [1500, 1500],
  stopsAfterMs: [50, 150],
};
let world: World;
let kubeconfig = '';
let [out, err] = ['', ''];
beforeEach(async () => {
  world = await startWorld({ clusters: ['east'], behaviours: [slow] });
  kubeconfig = await world.listen();
  const toOut = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  const toErr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += String(text);
    return true;
  });
  onTestFinished(() => {
    toOut.mockRestore();
    toErr.mockRestore();
  });
});
afterEach(() => world.stop());

async function atoll(...args: string[]): Promise<number> {
  [out, err] = ['', ''];
  return await main(['node', 'atoll', '--atoll-kubeconfig', kubeconfig, ...args]);
}

const patch = (name: string, spec: object) =>
  world.admin.patch(resources.physicalclusters, { name }, 'merge', { spec });
const specOf = async (name: string) =>
  (await find<PhysicalCluster>(world.admin, resources.physicalclusters, name, ''))?.spec;

const shops = ['one', 'two', 'three', 'four'];

/** One pod each, of which ten fit on a cluster; one more is where its user wants it. */
async function fill(): Promise<void> {
  await patch('east', { capacity: { pods: '10' } });
  for (const name of shops) {
    const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await world.admin.create(resources.namespaces, home);
    const { metadata, ...web } = deployment('web', 1);
    const there = { ...web, metadata: { ...metadata, namespace: name } };
    await world.admin.create(resources.deployments, there, { namespace: name });
  }
  await world.admin.create(resources.deployments, deployment('pinned', 1, 'east'), { namespace: 'default' });
  for (const name of shops) await settled(world.admin, 'web.deployments.apps', name);
  await settled(world.admin, 'pinned.deployments.apps');
}

async function join(name: string): Promise<void> {
  await world.simulate(name);
  await world.register(name);
  await patch(name, { capacity: { pods: '10' } });
  await until(`${name} is ready`, () => isReady(world.admin, name));
}

const webOf = (namespace: string) =>
  find<Placement>(world.admin, resources.placements, 'web.deployments.apps', namespace);
const onWest = async () => {
  const all = await Promise.all(shops.map(webOf));
  return shops.filter((_, i) => all[i]?.spec?.clusters.join() === 'west');
};

test('a cluster that joins gets what it has clearly more room for, one by one, as was planned', async () => {
  await fill();
  await join('west');
  expect(await atoll('plan', 'rebalance', '-o', 'json'), err).toBe(0);
  const { items, room } = JSON.parse(out) as { items: { namespace: string; to: string[] }[]; room: object };
  // Of ten: five of east and none of west, then three and two, of which no more gains ten points.
  expect(items.map(({ to }) => to)).toEqual([['west'], ['west']]);
  expect(room).toEqual({ before: { east: 50, west: 100 }, after: { east: 70, west: 80 } });
  expect(await onWest()).toEqual([]);

  let most = 0;
  const specs = new Map<string, Placement['spec']>();
  await world.store.watch(
    { start: '/atoll.dev/placements/root/', end: '/atoll.dev/placements/root0' },
    {
      after: 0,
      sink: (events) => {
        for (const { entry } of events.filter(({ type }) => type !== 'delete'))
          specs.set(entry.key, (JSON.parse(Buffer.from(entry.value).toString()) as Placement).spec);
        const leaving = [...specs].filter(
          ([key, spec]) =>
            key.endsWith('web.deployments.apps') && spec?.shares?.['east'] && spec.clusters.join() === 'west',
        );
        most = Math.max(most, leaving.length);
      },
    },
  );
  expect(await atoll('rebalance', '--timeout', '180'), err + out).toBe(0);
  expect(await onWest()).toHaveLength(2);
  expect(most).toBe(1);
  expect(out).toContain(
    'physicalcluster.atoll.dev/east rebalances\nphysicalcluster.atoll.dev/west rebalances\n',
  );
  expect(out).toMatch(/deployments.apps\/web {2}left east\n/);
  expect(out).toMatch(
    /\n2 workloads moved; nothing more may leave for where there is clearly more room\nfree: east 70 %, west 80 %\n$/,
  );
  expect((await specOf('east'))?.rebalance).toBeUndefined();
  const [first = ''] = await onWest();
  expect((await webOf(first))?.spec?.reasons?.['west']).toMatch(
    /^moved by the rebalance of east: west has \d+ % free, east \d+ %$/,
  );
  const events = await world.admin.list(
    { group: '', version: 'v1', resource: 'events' },
    { namespace: first },
  );
  expect(JSON.stringify(events.items)).toContain('west: moved by the rebalance of east: west has');
  for (const name of shops) expect((await webOf(name))?.spec?.waits).toBeUndefined();
});

test('it goes on by itself where the field stands: for a cluster that joins, one that is uncordoned, one with more room', async () => {
  await fill();
  await patch('east', { rebalance: true });
  await world.simulate('west');
  await world.register('west');
  await patch('west', { capacity: { pods: '10' }, unschedulable: true });
  await until('west is ready', () => isReady(world.admin, 'west'));
  expect(await atoll('cluster', 'list')).toBe(0);
  expect(out).toMatch(/^east +Ready,Rebalancing /m);
  expect(await onWest()).toEqual([]);
  await patch('west', { capacity: { pods: '0' }, unschedulable: null });
  await until('it was looked at', async () => (await specOf('west'))?.unschedulable === undefined);
  expect(await onWest()).toEqual([]);
  await patch('west', { capacity: { pods: '10' } });
  await until('two have moved', async () => (await onWest()).length === 2);
  // What a command finds set it leaves set.
  expect(await atoll('rebalance', 'east', '--timeout', '180'), err).toBe(0);
  expect(out).toContain('east rebalances anyway (spec.rebalance), and goes on when this has ended\n');
  expect((await specOf('east'))?.rebalance).toBe(true);
  // Load tells of itself by no event: what was there no more is news all the same.
  await world.admin.patch(resources.deployments, { namespace: 'default', name: 'pinned' }, 'merge', {
    spec: { replicas: 4 },
  });
  await until('a third has moved', async () => (await onWest()).length === 3);
});

test.each([
  ['a timeout', 1, 'after 1 s 1 are still on their way, and '],
  ['SIGTERM', 130, 'the rebalance has ended; what is on its way arrives, the same command again goes on'],
  ['Ctrl-C', 130, 'the rebalance has ended; what is on its way arrives, the same command again goes on'],
])('%s takes the field back, and the same command goes on', async (what, code, said) => {
  await fill();
  await join('west');
  const args = ['rebalance', 'east', '--timeout', what === 'a timeout' ? '1' : '100'];
  const running = atoll(...args);
  await until('the first is on its way', async () => (await onWest()).length > 0);
  if (what === 'Ctrl-C') process.emit('SIGINT');
  if (what === 'SIGTERM') process.emit('SIGTERM');
  expect(await running, out).toBe(code);
  expect(err).toContain(said);
  expect((await specOf('east'))?.rebalance).toBeUndefined();
  expect(await atoll('rebalance', 'east', '--timeout', '180'), err).toBe(0);
  expect(await onWest()).toHaveLength(2);
});

test('two at a time: the second says so, and goes on when the first is ended; what either has set the last takes back', async () => {
  await fill();
  await join('west');
  const stop = new AbortController();
  const how = { timeoutSeconds: 180, output: 'text' } as const;
  const first = rebalance(world.admin, ['east'], { ...how, signal: stop.signal }).catch(
    (why: unknown) => why,
  );
  await until('the first is on its way', async () => (await onWest()).length > 0);
  const second = atoll('rebalance', 'east', '--timeout', '180');
  const said =
    /^physicalcluster.atoll.dev\/east rebalances already, by an atoll rebalance that began at \S+Z, and goes on until that has ended, too$/m;
  await until('the second says so', () => said.test(out));
  stop.abort();
  expect(await first).toBeInstanceOf(InterruptedError);
  expect((await specOf('east'))?.rebalance).toBe(true);
  expect(await second, err).toBe(0);
  expect(await onWest()).toHaveLength(2);
  expect((await specOf('east'))?.rebalance).toBeUndefined();
});

test('in JSON, too, it tells what keeps a Namespace where there is less room: what stays there, and what is nowhere', async () => {
  const { admin } = world;
  await patch('east', { capacity: { pods: '10' } });
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'one' } };
  await admin.create(resources.namespaces, home);
  const create = async ({ metadata, ...made }: KubeObject, namespace: string) => {
    const resource = made.kind === 'StatefulSet' ? resources.statefulsets : resources.deployments;
    await admin.create(resource, { ...made, metadata: { ...metadata, namespace } }, { namespace });
  };
  await create(statefulSet('db', 3), 'default');
  await create(deployment('web', 3), 'one');
  await settled(admin, 'db.statefulsets.apps');
  await settled(admin, 'web.deployments.apps', 'one');
  await create(deployment('big', 50), 'one');
  await until('it is nowhere', async () => {
    const { spec } =
      (await find<Placement>(admin, resources.placements, 'big.deployments.apps', 'one')) ?? {};
    return spec?.clusters.length === 0;
  });
  await join('west');
  // West may be silent for a moment, where many run beside this: then it is no place to go to.
  const { kept, ...said } = await until('both are told of', async () => {
    if ((await atoll('rebalance', 'east', '-o', 'json', '--timeout', '180')) !== 0) return undefined;
    const answer = JSON.parse(out) as { kept: { object: string }[] };
    return answer.kept.length === 2 ? answer : undefined;
  });
  expect(said).toMatchObject({ clusters: ['east'], rebalanced: true, moved: 0 });
  expect(kept.sort((a, b) => (a.object < b.object ? -1 : 1))).toMatchObject([
    { namespace: 'one', object: 'deployments.apps/big', kept: expect.stringMatching(/nowhere yet$/) },
    {
      namespace: 'default',
      object: 'statefulsets.apps/db',
      kept: expect.stringMatching(/starts elsewhere$/),
    },
  ]);
});

test.each([
  [['rebalance', 'north'], 1, /no physical cluster north; there are: east/],
  [['rebalance'], 1, /there are not two clusters that are ready and not cordoned/],
  [['plan', 'rebalance', '-f', 'x'], 2, /-f and rebalance are two plans: ask for one/],
])('%j is refused', async (args, code, said) => {
  expect(await atoll(...args)).toBe(code);
  expect(err).toMatch(said);
});
