import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { FakePhysical } from './fake-physical.ts';
import {
  active,
  configMap,
  deployment,
  east,
  keys,
  logical,
  namespace,
  object,
  placementKey,
  run,
  Upstream,
  until,
} from './world.ts';

const groups: Record<string, string> = { deployments: 'apis/apps/v1', jobs: 'apis/batch/v1' };
const path = (kind: string, name: string) =>
  `/${groups[kind] ?? 'api/v1'}/namespaces/${east}/${kind}/${name}`;

let upstream: Upstream;
let physical: FakePhysical;
let running: ReturnType<typeof run>[] = [];
const start = () => {
  const one = run(upstream, physical);
  running.push(one);
  return one;
};

beforeEach(async () => {
  upstream = await Upstream.make('east', 'west');
  physical = new FakePhysical();
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
});

/** As the physical Deployment controller would. */
async function roll(name: string, ready: number): Promise<void> {
  const object = await physical.get(path('deployments', name));
  const observedGeneration = object!.metadata.generation;
  await physical.put(path('deployments', name), {
    ...object!,
    status: { observedGeneration, replicas: ready, readyReplicas: ready },
  });
}

describe('down and up', () => {
  test('applies the share, in its shape, and reports what the controller observed', async () => {
    const [root, ref] = deployment('web', 3);
    await upstream.place(root, ref, {
      east: { phase: 'Joining', replicas: 3 },
      west: { phase: 'Active', replicas: 1 },
    });
    start();
    const made = await until('applied', () => physical.get(path('deployments', 'web')));
    expect(made.spec).toMatchObject({ replicas: 3 });
    expect(JSON.parse(made.metadata.annotations![locatorAnnotation]!)).toEqual({
      syncer: 'uid-east',
      cluster: logical,
      namespace,
      resource: 'deployments.apps',
      name: 'web',
      uid: 'uid-of-web',
    });
    expect(await until('slice', () => upstream.slice(ref))).toEqual({ present: true });
    await roll('web', 3);
    const slice = await until('observed', async () => {
      const found = await upstream.slice(ref);
      return found?.observedGeneration === 3 ? found : undefined;
    });
    expect(slice).toMatchObject({ present: true, share: { replicas: 3 }, status: { readyReplicas: 3 } });
    expect(await upstream.slice(ref, 'west')).toBeUndefined();
  });

  test('a share that grows is told of only when the controller has observed the growth', async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: { ...active, replicas: 2 } });
    start();
    await until('applied', () => physical.get(path('deployments', 'web')));
    await roll('web', 2);
    await until('2', async () => (await upstream.slice(ref))?.share?.replicas === 2);
    await upstream.shares(ref, { east: { ...active, replicas: 4 } });
    await until(
      '4',
      async () =>
        (((await physical.get(path('deployments', 'web')))?.spec ?? {}) as { replicas?: number }).replicas ===
        4,
    );
    expect((await upstream.slice(ref))?.share?.replicas).toBe(2);
    await roll('web', 4);
    await until('4 told', async () => (await upstream.slice(ref))?.share?.replicas === 4);
  });

  test('the closure arrives before the workload and leaves after it', async () => {
    const [root, ref] = deployment('web');
    const [config, configRef] = configMap('settings');
    await upstream.place(root, ref, { east: active }, [
      { group: '', resource: 'configmaps', name: 'settings' },
    ]);
    await upstream.place(config, configRef, { east: active });
    start();
    await until('applied', () => physical.get(path('deployments', 'web')));
    const applied = physical.writes.filter((write) => write.verb === 'apply').map((write) => write.path);
    expect(applied.indexOf(path('configmaps', 'settings'))).toBeLessThan(
      applied.indexOf(path('deployments', 'web')),
    );

    physical.holdForeground = true;
    await upstream.shares(ref, { east: { phase: 'Leaving' } });
    await upstream.shares(configRef, { east: { phase: 'Leaving' } });
    await until(
      'going',
      async () => (await physical.get(path('deployments', 'web')))?.metadata.deletionTimestamp,
    );
    expect(await physical.get(path('configmaps', 'settings'))).toBeDefined();
    expect((await upstream.slice(ref))?.present).toBe(true);
    await physical.finish(path('deployments', 'web'));
    await until('gone', async () => (await upstream.slice(ref))?.present === false);
    await until('closure gone', async () => (await upstream.slice(configRef))?.present === false);
    const deleted = physical.writes.filter((write) => write.verb === 'delete').map((write) => write.path);
    expect(deleted).toEqual([path('deployments', 'web'), path('configmaps', 'settings')]);
    await upstream.shares(ref, {});
    await upstream.shares(configRef, {});
    await until('namespace gone', async () => !(await physical.get(`/api/v1/namespaces/${east}`)));
  });

  test('drift is repaired', async () => {
    const [config, ref] = configMap('settings');
    await upstream.place(config, ref, { east: active });
    start();
    const made = await until('applied', () => physical.get(path('configmaps', 'settings')));
    await physical.put(path('configmaps', 'settings'), { ...made, data: { a: 'other' } });
    await until(
      'repaired',
      async () => (await physical.get(path('configmaps', 'settings')))?.['data']?.['a' as never] === 'b',
    );
    await physical.finish(path('configmaps', 'settings'));
    await until('made again', () => physical.get(path('configmaps', 'settings')));
  });

  test('a kind that is not served is an error of that share, and stops nothing else', async () => {
    physical = new FakePhysical({ unserved: ['deployments'] });
    const [root, ref] = deployment('web');
    const [config, configRef] = configMap('settings');
    await upstream.place(root, ref, { east: active });
    await upstream.place(config, configRef, { east: active });
    start();
    await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotServed');
    await until('other', async () => (await upstream.slice(configRef))?.present);
  });
});

test('what went with a former share of the same Placement is told again', async () => {
  const [root, ref] = deployment('web');
  await upstream.place(root, ref, { east: { phase: 'Leaving' } });
  start();
  await until('absent', async () => (await upstream.slice(ref))?.present === false);
  const placement = await upstream.read(placementKey(ref));
  const spec = { ...(placement!.spec as object), shares: {} };
  await upstream.write(placementKey(ref), { ...placement!, spec, status: { clusters: {} } });
  await upstream.write(placementKey(ref), { ...placement!, status: { clusters: {} } });
  await until('absent, again', async () => (await upstream.slice(ref))?.present === false);
});

describe('foreign things', () => {
  test.each([
    ['no locator', undefined],
    ['garbled', '{"syncer":'],
    [
      'another syncer',
      JSON.stringify({
        syncer: 'uid-west',
        cluster: logical,
        namespace,
        resource: 'configmaps',
        name: 'settings',
        uid: 'uid-of-settings',
      }),
    ],
    [
      'another object',
      JSON.stringify({
        syncer: 'uid-east',
        cluster: logical,
        namespace,
        resource: 'configmaps',
        name: 'x',
        uid: 'uid-of-settings',
      }),
    ],
  ])('an object with %s is neither written nor deleted', async (_, annotation) => {
    const [config, ref] = configMap('settings');
    await upstream.place(config, ref, { east: active });
    const first = start();
    const made = await until('applied', () => physical.get(path('configmaps', 'settings')));
    await first.stop();
    const { [locatorAnnotation]: _gone, ...others } = made.metadata.annotations!;
    const annotations = annotation === undefined ? others : { ...others, [locatorAnnotation]: annotation };
    const foreign = await physical.put(path('configmaps', 'settings'), {
      ...made,
      metadata: { ...made.metadata, annotations },
      data: { theirs: 'yes' },
    });
    physical.writes.length = 0;
    start();
    await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotOwned');
    await upstream.shares(ref, { east: { phase: 'Leaving' } });
    await until(
      'absent',
      async () => (await upstream.slice(ref))?.present === false && !(await upstream.slice(ref))?.error,
    );
    await upstream.shares(ref, {});
    const [other, otherRef] = configMap('other');
    await upstream.place(other, otherRef, { east: active });
    await until('went on', () => physical.get(path('configmaps', 'other')));
    expect(await physical.get(path('configmaps', 'settings'))).toEqual(foreign);
    expect(physical.writes.filter((write) => write.path.endsWith('/settings'))).toEqual([]);
  });

  test('a namespace of the same name is not used', async () => {
    const [config, ref] = configMap('settings');
    await physical.put(`/api/v1/namespaces/${east}`, {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: east },
    });
    await upstream.place(config, ref, { east: active });
    start();
    await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotOwned');
    expect(physical.writes.filter((write) => write.verb !== 'create')).toEqual([]);
  });

  test('our namespace stays while somebody keeps something in it', async () => {
    const [config, ref] = configMap('settings');
    await upstream.place(config, ref, { east: active });
    start();
    await until('applied', () => physical.get(path('configmaps', 'settings')));
    await physical.put(path('secrets', 'theirs'), {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'theirs', namespace: east },
    });
    let looked = 0;
    physical.intercept = ({ url, method }) => {
      if (method === 'GET' && url.startsWith(`/api/v1/namespaces/${east}/secrets?`)) looked += 1;
    };
    await upstream.remove(placementKey(ref));
    await until('looked', () => looked > 0);
    await until('object gone', async () => !(await physical.get(path('configmaps', 'settings'))));
    expect(physical.writes.some((write) => write.path === `/api/v1/namespaces/${east}`)).toBe(true);
    expect(physical.writes).not.toContainEqual({ verb: 'delete', path: `/api/v1/namespaces/${east}` });
  });
});

describe('restarts and partitions', () => {
  test('a restart deletes nothing that is wanted, and removes what was dropped meanwhile', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `c${i}`);
    for (const name of names) await upstream.place(...configMap(name), { east: active });
    const first = start();
    for (const name of names) await until(name, () => physical.get(path('configmaps', name)));
    await first.stop();
    await upstream.remove(placementKey(configMap('c7')[1]));
    physical.writes.length = 0;
    start();
    await until('orphan gone', async () => !(await physical.get(path('configmaps', 'c7'))));
    const [extra, extraRef] = configMap('extra');
    await upstream.place(extra, extraRef, { east: active });
    await until('went on', () => physical.get(path('configmaps', 'extra')));
    expect(physical.writes.filter((write) => write.verb === 'delete')).toEqual([
      { verb: 'delete', path: path('configmaps', 'c7') },
    ]);
  });

  test('killed between apply and slice: the next life tells it', async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: active });
    let applied = () => {};
    const seen = new Promise<void>((resolve) => {
      applied = resolve;
    });
    physical.intercept = ({ method }) => {
      if (method === 'PATCH') applied();
    };
    const first = start();
    await seen;
    await first.stop();
    start();
    await until('applied', () => physical.get(path('deployments', 'web')));
    await roll('web', 4);
    await until('told', async () => (await upstream.slice(ref))?.observedGeneration === 1);
  });

  test('a partition keeps everything, and what changed meanwhile is done after it', async () => {
    const [config, ref] = configMap('settings');
    await upstream.place(config, ref, { east: active });
    start();
    await until('applied', () => physical.get(path('configmaps', 'settings')));
    const cluster = () => upstream.read<PhysicalCluster>(keys.physicalCluster('east'));
    const ready = async () => (await cluster())?.status?.conditions?.[0]?.status;
    await until('ready', async () => (await ready()) === 'True');
    physical.intercept = () => {
      throw new Error('ECONNRESET');
    };
    await until('not ready', async () => (await ready()) === 'False');
    await upstream.place(configMap('settings', { a: 'new' })[0], ref, { east: active });
    expect(physical.writes.filter((write) => write.verb === 'delete')).toEqual([]);
    physical.intercept = () => {};
    await until('ready again', async () => (await ready()) === 'True');
    await until(
      'new',
      async () => (await physical.get(path('configmaps', 'settings')))?.['data']?.['a' as never] === 'new',
    );
    expect(physical.writes.filter((write) => write.verb === 'delete')).toEqual([]);
  });

  test('a root object made anew replaces the former one', async () => {
    const [config, ref] = configMap('settings');
    await upstream.place(config, ref, { east: active });
    start();
    await until('applied', () => physical.get(path('configmaps', 'settings')));
    await upstream.remove(placementKey(ref));
    const anew = { ...config, metadata: { ...config.metadata, uid: 'second' } };
    await upstream.place(anew, { ...ref, uid: 'second' }, { east: active });
    await until('second', async () =>
      (await physical.get(path('configmaps', 'settings')))?.metadata.annotations?.[
        locatorAnnotation
      ]?.includes('second'),
    );
    await until(
      'slice',
      async () => (await upstream.slice(ref))?.present && !(await upstream.slice(ref))?.error,
    );
  });
});

describe('pods', () => {
  const podKey = keys.pod(logical, namespace, 'web-1');
  const setKey = keys.object({ group: 'apps', resource: 'replicasets', name: 'web-5d' }, logical, namespace);
  const eventKey = (name: string) => keys.object({ group: '', resource: 'events', name }, logical, namespace);
  async function pod(labels: Record<string, string> = {}, owner = 'web') {
    const workload = await until('applied', () => physical.get(path('deployments', 'web')));
    const set = await physical.put(`/apis/apps/v1/namespaces/${east}/replicasets/web-5d`, {
      kind: 'ReplicaSet',
      apiVersion: 'apps/v1',
      metadata: {
        name: 'web-5d',
        namespace: east,
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            name: owner,
            uid: workload.metadata.uid!,
            controller: true,
          },
        ],
      },
    });
    await physical.put(path('pods', 'web-1'), {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: 'web-1',
        namespace: east,
        labels,
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name: 'web-5d',
            uid: set.metadata.uid!,
            controller: true,
          },
        ],
      },
      spec: { nodeName: 'n1', containers: [] },
      status: { phase: 'Running' },
    });
  }

  test('are reflected under their workload, followed, and withdrawn', async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: active });
    start();
    await pod();
    const reflected = await until('reflected', () => upstream.read(podKey));
    const set = await upstream.read(setKey);
    expect(set?.metadata).toMatchObject({
      annotations: { 'atoll.dev/physical-cluster': 'east' },
      ownerReferences: [{ kind: 'Deployment', name: 'web', uid: 'uid-of-web', controller: true }],
    });
    expect(reflected.metadata).toMatchObject({
      annotations: { 'atoll.dev/physical-cluster': 'east' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5d', uid: set?.metadata.uid, controller: true }],
    });
    expect(reflected).toMatchObject({ spec: { nodeName: 'n1' }, status: { phase: 'Running' } });
    await physical.finish(path('pods', 'web-1'));
    await until('withdrawn', async () => !(await upstream.read(podKey)));
    await physical.finish(`/apis/apps/v1/namespaces/${east}/replicasets/web-5d`);
    await until('withdrawn', async () => !(await upstream.read(setKey)));
  });

  test('and what happened to them is told as Events, under the uid that they have here', async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: active });
    start();
    await pod();
    const event = (name: string, kind: string, about: string) => ({
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name, namespace: east },
      involvedObject: { apiVersion: 'v1', kind, name: about, namespace: east, uid: 'physical' },
      reason: 'Scheduled',
      message: `Successfully assigned ${east}/${about} to n1`,
      lastTimestamp: new Date().toISOString(),
      count: 2,
    });
    await until('reflected', () => upstream.read(podKey));
    for (const [name, kind, about] of [
      ['told', 'Pod', 'web-1'],
      ['foreign', 'Pod', 'stranger'],
    ] as const)
      await physical.put(path('events', name), event(name, kind, about));
    const told = await until('told', () => upstream.read(eventKey('told')));
    const uid = (await upstream.read(podKey))?.metadata.uid;
    expect(told).toMatchObject({
      metadata: { namespace, annotations: { 'atoll.dev/physical-cluster': 'east' } },
      involvedObject: { kind: 'Pod', name: 'web-1', namespace, uid },
      message: 'Successfully assigned shop/web-1 to n1',
      count: 2,
    });
    expect(await upstream.read(eventKey('foreign'))).toBeUndefined();
    await physical.finish(path('events', 'told'));
    await until('withdrawn', async () => !(await upstream.read(eventKey('told'))));
  });

  test('of a workload that is placed itself, and owns them without another between, are reflected', async () => {
    const root = object('batch/v1', 'Job', 'once');
    const ref = {
      group: 'batch',
      version: 'v1',
      resource: 'jobs',
      kind: 'Job',
      name: 'once',
      uid: 'uid-of-once',
    };
    await upstream.place({ ...root, spec: { template: { spec: { containers: [] } } } }, ref, {
      east: active,
    });
    start();
    const job = await until('applied', () => physical.get(path('jobs', 'once')));
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'once',
      uid: job.metadata.uid!,
      controller: true,
    };
    await physical.put(path('pods', 'once-1'), {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'once-1', namespace: east, ownerReferences: [owner] },
    });
    const key = keys.object({ group: '', resource: 'pods', name: 'once-1' }, logical, namespace);
    const reflected = await until('reflected', () => upstream.read(key));
    expect(reflected.metadata.ownerReferences).toMatchObject([{ kind: 'Job', uid: 'uid-of-once' }]);
  });

  test('that went while no syncer ran are withdrawn at the start', async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: active });
    const first = start();
    await pod();
    await until('reflected', () => upstream.read(podKey));
    await first.stop();
    await physical.finish(path('pods', 'web-1'));
    start();
    await until('withdrawn', async () => !(await upstream.read(podKey)));
  });

  test('of nobody we know are not reflected, and a share leaves only after its pods', async () => {
    const [root, ref] = deployment('web');
    await upstream.place(root, ref, { east: active });
    start();
    await pod();
    await physical.put(path('pods', 'stranger'), {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'stranger', namespace: east },
    });
    await until('reflected', () => upstream.read(podKey));
    await upstream.shares(ref, { east: { phase: 'Leaving' } });
    await until('deployment gone', async () => !(await physical.get(path('deployments', 'web'))));
    expect((await upstream.slice(ref))?.present).not.toBe(false);
    await physical.finish(path('pods', 'web-1'));
    await until('left', async () => (await upstream.slice(ref))?.present === false);
    expect(await upstream.read(keys.pod(logical, namespace, 'stranger'))).toBeUndefined();
  });
});
