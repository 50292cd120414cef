import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Placement } from '../../cluster/types.ts';
import { mustJson, until } from '../atoll/kubectl.ts';
import { type Pair, startPair, workload } from '../atoll/pair.ts';
import type { PodSamples } from '../atoll/pods.ts';

/** Rolling updates, and replicas by region, over two real clusters, counted at their own pods. */
let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair?.stop());

it('an update of 4 over two clusters runs 5 pods at most, 3 of them ready', async () => {
  const { ctl } = pair;
  const pods = await pair.journey('rolled', workload('Deployment', 'rolled', 4, 'east,west'));
  await until('two run on each', 60, async () =>
    (['east', 'west'] as const).every((name) => pods.ready(name).length === 2),
  );
  await until('it is settled', 30, async () =>
    (await ctl('get', 'placement', 'rolled.deployments.apps', '-n', 'rolled', '-o', 'json')).includes(
      'every share is where it should be',
    ),
  );
  for (let round = 0; round < 3; round++) {
    const before = new Set([...pods.ready('east'), ...pods.ready('west')]);
    pods.begin();
    await anew('rolled', 'deploy/rolled', round);
    const said = await ctl('rollout', 'status', 'deploy/rolled', '-n', 'rolled', '--timeout=60s');
    expect(said).toContain('successfully rolled out');
    const after = await readyNow(pods, 4);
    expect(after.filter((name) => before.has(name))).toEqual([]);
    expect(pods.highest).toBeLessThanOrEqual(5);
    expect(pods.lowest).toBeGreaterThanOrEqual(3);
  }
  await ctl('delete', 'ns', 'rolled');
  pods.stop();
});

it('with a surge of one and none missing they are updated one after the other', async () => {
  const { ctl } = pair;
  const { spec, ...rest } = workload('Deployment', 'turns', 4, 'east,west');
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const pods = await pair.journey('turns', { ...rest, spec: { ...spec, strategy } });
  await until('two run on each', 60, async () => spread(pods, 2));
  await until('one waits', 30, async () => (await waiting('turns.deployments.apps', 'turns')) === 1);
  for (let round = 0; round < 3; round++) {
    const before = new Set([...pods.ready('east'), ...pods.ready('west')]);
    pods.begin();
    await anew('turns', 'deploy/turns', round);
    const said = await ctl('rollout', 'status', 'deploy/turns', '-n', 'turns', '--timeout=90s');
    expect(said).toContain('successfully rolled out');
    const after = await readyNow(pods, 4);
    expect(after.filter((name) => before.has(name))).toEqual([]);
    expect(pods.highest).toBeLessThanOrEqual(5);
    expect(pods.lowest).toBe(4);
  }
  await ctl('delete', 'ns', 'turns');
  pods.stop();
});

it('a StatefulSet over two clusters has one pod down at a time', async () => {
  const { ctl } = pair;
  const pods = await pair.journey('set', workload('StatefulSet', 'set', 4, 'east,west'));
  await until('two run on each', 60, async () => spread(pods, 2));
  await until('one waits', 30, async () => (await waiting('set.statefulsets.apps', 'set')) === 1);
  pods.begin();
  await anew('set', 'sts/set', 1);
  await ctl('rollout', 'status', 'sts/set', '-n', 'set', '--timeout=120s');
  expect(pods.lowest).toBeGreaterThanOrEqual(3);
  await until('two run on each', 30, async () => spread(pods, 2));
  await ctl('delete', 'ns', 'set');
  pods.stop();
});

it('us=3,eu=2: a region is excluded and taken back, and never fewer than five are ready', async () => {
  const { ctl } = pair;
  await ctl('label', 'physicalcluster', 'east', 'topology.kubernetes.io/region=us');
  await ctl('label', 'physicalcluster', 'west', 'topology.kubernetes.io/region=eu');
  const { metadata, ...rest } = workload('Deployment', 'regions', 5);
  const annotations = { 'atoll.dev/spread': 'region us=3,eu=2' };
  const pods = await pair.journey('regions', { ...rest, metadata: { ...metadata, annotations } });
  const run = (us: number, eu: number) =>
    until(
      `${us} and ${eu} run`,
      60,
      async () => pods.ready('east').length === us && pods.ready('west').length === eu,
    );
  const is = (condition: string) =>
    ctl(
      'wait',
      '-n',
      'regions',
      'placement/regions.deployments.apps',
      `--for=${condition}`,
      '--timeout=240s',
    );
  await run(3, 2);
  await is('condition=Settled');
  pods.begin();
  await ctl('annotate', 'deploy', 'regions', '-n', 'regions', 'atoll.dev/clusters=!west', '--overwrite');
  await run(5, 0);
  await is('condition=Placed=False');
  await ctl('annotate', 'deploy', 'regions', '-n', 'regions', 'atoll.dev/clusters-');
  await run(3, 2);
  await is('condition=Placed');
  expect(pods.lowest).toBe(5);
  await ctl('scale', 'deploy', 'regions', '-n', 'regions', '--replicas=10');
  await run(6, 4);
  await ctl('delete', 'ns', 'regions');
  pods.stop();
});

/** kubectl and the watches tell in no order between them. */
const readyNow = (pods: PodSamples, count: number) =>
  until(`${count} are ready`, 30, async () => {
    const ready = [...pods.ready('east'), ...pods.ready('west')];
    return ready.length === count && ready;
  });

const spread = (pods: PodSamples, count: number) =>
  (['east', 'west'] as const).every((name) => pods.ready(name).length === count);

/** As a restart does, which kubectl refuses twice in a second. */
async function anew(namespace: string, name: string, round: number): Promise<void> {
  const template = { metadata: { annotations: { round: `${round}` } } };
  await pair.ctl('patch', name, '-n', namespace, '-p', JSON.stringify({ spec: { template } }));
}

/** How many clusters have been heard to wait. */
async function waiting(placement: string, namespace: string): Promise<number> {
  const { status } = await mustJson<Placement>(
    pair.server.kubeconfig,
    'get',
    'placement',
    placement,
    '-n',
    namespace,
  );
  return Object.values(status?.clusters ?? {}).filter(({ share }) => share?.paused).length;
}
