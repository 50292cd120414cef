import { beforeEach, describe, expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { Informer } from '../../../client/informer.ts';
import type { InformerSet } from '../../../client/informers.ts';
import type { ResourceRef } from '../../../client/url.ts';
import { logicalClusterAnnotation } from '../../../cluster/names.ts';
import type { Condition, Placement, Share } from '../../../cluster/types.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { wake } from '../../../splitter/wake.ts';
import { observe } from '../../../splitter/world.ts';
import { FakeClock } from '../controller/fake-clock.ts';

const key = 'root/shop/web.deployments.apps';
const placementHead = { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement' };
let caches: Map<string, Cache<KubeObject>>;
let clock: FakeClock;
let queue: WorkQueue;
let writing: Map<string, unknown>;
let begun: Set<string>;
let revision: number;
let rush: { isOn: boolean };

const cacheOf = (resource: string) => {
  const cache =
    caches.get(resource) ??
    new Cache<KubeObject>(
      (error) => {
        throw error;
      },
      // As Placements come: what is said of one comes under its own revision.
      Object.is,
    );
  caches.set(resource, cache);
  return cache;
};

beforeEach(async () => {
  caches = new Map();
  clock = new FakeClock(0);
  queue = new WorkQueue({ clock });
  writing = new Map();
  begun = new Set();
  revision = 1;
  rush = { isOn: false };
  const informers = { for: ({ resource }: ResourceRef) => cacheOf(resource) as unknown as Informer };
  wake(observe(informers as unknown as InformerSet), queue, {
    writing,
    beginnings: { isForeseen: (of) => begun.delete(of) },
    rush,
  });
  root({});
  placement({});
  await looked();
});

const metadata = (name: string) => ({
  name,
  namespace: 'shop',
  uid: `uid-of-${name}`,
  resourceVersion: String(++revision),
  annotations: { [logicalClusterAnnotation]: 'root' },
});

function root(part: object): void {
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata('web'), ...part };
  cacheOf('deployments').put(object as KubeObject);
}

interface Written {
  shares?: Record<string, Share>;
  settled?: Condition['status'];
  clusters?: string[];
}

function placement({ shares, settled, clusters = ['a'] }: Written): void {
  const ref = { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', name: 'web' };
  const object = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: metadata('web.deployments.apps'),
    spec: { ref: { ...ref, uid: 'uid-of-web' }, clusters, ...(shares && { shares }) },
    status: { ...(settled && { conditions: [{ type: 'Settled', status: settled }] }) },
  };
  cacheOf('placements').put(object as KubeObject);
}

/** What a word of its clusters makes of it: under the same revision. */
function said(slice: object): void {
  const before = cacheOf('placements').get(key) as Placement;
  const status = { ...before.status, clusters: { a: slice } };
  cacheOf('placements').put({ ...before, status } as KubeObject);
}

const isWoken = () => queue.length > 0;

async function looked(): Promise<void> {
  while (queue.length > 0) queue.done((await queue.take()) ?? '');
  queue.overtake(key);
}

describe('what the splitter has just written', () => {
  const joining = { a: { phase: 'Joining' as const } };
  const active = { a: { phase: 'Active' as const } };

  test('that shares begin, is looked at with what comes next, or after a while', async () => {
    placement({ shares: joining });
    expect(isWoken()).toBe(false);
    said({ present: true });
    expect(isWoken()).toBe(true);
    await looked();
    clock.advance(5000);
    expect(isWoken()).toBe(false);
    placement({});
    await looked();
    placement({ shares: joining });
    clock.advance(5000);
    expect(isWoken()).toBe(true);
  });

  test('is looked at later where nobody has had time to answer', async () => {
    rush.isOn = true;
    placement({ shares: joining });
    clock.advance(29_000);
    expect(isWoken()).toBe(false);
    clock.advance(1_000);
    expect(isWoken()).toBe(true);
  });

  test('that it comes as it was told to begin, is looked at with what comes next, or after a while', async () => {
    cacheOf('placements').remove(cacheOf('placements').get(key) as KubeObject);
    await looked();
    begun.add(key);
    placement({ shares: joining });
    expect(isWoken()).toBe(false);
    clock.advance(5000);
    expect(isWoken()).toBe(true);
  });

  test('that a Deployment comes to one more cluster, or leaves for it, is looked at with what comes next', async () => {
    const clusters = ['b'];
    const rolling = { maxSurge: 1, maxUnavailable: 0 };
    placement({ shares: { a: { phase: 'Active', replicas: 1 } }, clusters });
    await looked();
    const both = {
      a: { phase: 'Active', replicas: 1 },
      b: { phase: 'Joining', replicas: 1, ...rolling },
    } as const;
    placement({ shares: { ...both, a: { ...both.a, ...rolling } }, clusters });
    expect(isWoken()).toBe(false);
    said({ present: true });
    expect(isWoken()).toBe(true);
    placement({ shares: both, clusters });
    await looked();
    placement({
      shares: { a: { phase: 'Leaving', replicas: 1 }, b: { phase: 'Active', replicas: 1 } },
      clusters,
    });
    expect(isWoken()).toBe(false);
    clock.advance(5000);
    expect(isWoken()).toBe(true);
  });

  test.each<[string, Record<string, Share>, Record<string, Share>]>([
    ['grows where it is', { a: { phase: 'Active' } }, { a: { phase: 'Joining' }, b: { phase: 'Joining' } }],
    [
      'joins with more to do',
      { a: { phase: 'Active' } },
      { a: { phase: 'Active' }, b: { phase: 'Joining', fresh: true } },
    ],
    [
      'leaves before all is there',
      { a: { phase: 'Active' }, b: { phase: 'Joining' } },
      { a: { phase: 'Leaving' }, b: { phase: 'Joining' } },
    ],
    [
      'leaves a part',
      { a: { phase: 'Active' }, b: { phase: 'Joining' }, c: { phase: 'Active' } },
      { a: { phase: 'Leaving' }, b: { phase: 'Active' }, c: { phase: 'Active' } },
    ],
  ])('that it %s is looked at', async (_what, before, after) => {
    placement({ shares: before, clusters: ['b'] });
    await looked();
    placement({ shares: after, clusters: ['b'] });
    expect(isWoken()).toBe(true);
  });

  test('that all is settled, is looked at where a cluster has failed before it came', async () => {
    placement({ shares: active, settled: 'False' });
    said({ present: true, error: { reason: 'Invalid', message: 'no such field' } });
    await looked();
    const before = cacheOf('placements').get(key) as Placement;
    const status = { ...before.status, conditions: [{ type: 'Settled', status: 'True' }] };
    const head = { ...before.metadata, resourceVersion: String(++revision) };
    cacheOf('placements').put({ ...before, metadata: head, status } as KubeObject);
    expect(isWoken()).toBe(true);
  });

  test('that all is settled, is not looked at; what is said or decided then is', async () => {
    placement({ shares: joining, settled: 'False' });
    await looked();
    placement({ shares: active, settled: 'True' });
    clock.advance(5000);
    expect(isWoken()).toBe(false);
    said({ present: false });
    expect(isWoken()).toBe(true);
    await looked();
    placement({ shares: active, settled: 'True' });
    expect(isWoken()).toBe(true);
  });

  describe('that it is ready, of which its cluster is asked,', () => {
    const both = { a: { phase: 'Active' }, b: { phase: 'Joining' } } as const;
    const ready = { ...both, b: { ...both.b, readySince: '2026-01-01T00:00:11.000Z' } };
    const cluster = (second: number) =>
      cacheOf('physicalclusters').put({
        apiVersion: 'atoll.dev/v1alpha1',
        kind: 'PhysicalCluster',
        metadata: { ...metadata('b'), namespace: '' },
        status: {
          lastHeartbeatTime: `2026-01-01T00:00:${second}Z`,
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      } as KubeObject);
    beforeEach(async () => {
      cluster(10);
      placement({ shares: both, clusters: ['b'] });
      clock.advance(5000);
      await looked();
    });

    test('is looked at when that has answered, and once', async () => {
      placement({ shares: ready, clusters: ['b'] });
      expect(isWoken()).toBe(false);
      cluster(11);
      expect(isWoken()).toBe(true);
      await looked();
      cluster(12);
      clock.advance(5000);
      expect(isWoken()).toBe(false);
    });

    test('is looked at at once where that had answered by then', () => {
      cluster(11);
      expect(isWoken()).toBe(false);
      placement({ shares: ready, clusters: ['b'] });
      expect(isWoken()).toBe(true);
    });

    test('is looked at after a while, whatever comes', () => {
      placement({ shares: ready, clusters: ['b'] });
      clock.advance(5000);
      expect(isWoken()).toBe(true);
    });

    test.each<[string, Record<string, Share>]>([
      ['another is asked, too', { ...ready, a: { ...ready.a, heardSince: '2026-01-01T00:00:10.000Z' } }],
      ['it has more', { ...ready, b: { ...ready.b, replicas: 2 } }],
      ['it goes on', { a: ready.a, b: { ...ready.b, phase: 'Active' } }],
    ])('is looked at where %s', (_what, shares) => {
      placement({ shares, clusters: ['b'] });
      expect(isWoken()).toBe(true);
    });
  });

  describe('what a cluster said that it has left goes', () => {
    const slices = { a: { present: false }, b: { present: true } };
    const put = (of: Written, status: object) => {
      placement(of);
      const before = cacheOf('placements').get(key) as Placement;
      cacheOf('placements').put({ ...before, status: { ...before.status, ...status } } as KubeObject);
    };
    const forget = (change: object = {}) => {
      const { status, ...before } = cacheOf('placements').get(key) as Placement;
      const { a: _, ...clusters } = status?.clusters ?? {};
      cacheOf('placements').put({ ...before, status: { ...status, clusters, ...change } } as KubeObject);
    };

    test.each<[string, boolean, Written]>([
      ['and is no more looked at', false, { shares: { b: { phase: 'Active' } }, clusters: ['b'] }],
      [
        'and is looked at where it is to come back',
        true,
        { shares: { b: { phase: 'Active' } }, clusters: ['a'] },
      ],
      [
        'and is looked at where it has not left',
        true,
        { shares: { a: { phase: 'Leaving' } }, clusters: ['b'] },
      ],
    ])('%s', async (_what, expected, of) => {
      put(of, { clusters: slices });
      await looked();
      forget();
      clock.advance(5000);
      expect(isWoken()).toBe(expected);
    });

    test('and is looked at where another has spoken', async () => {
      put({ shares: { b: { phase: 'Active' } }, clusters: ['b'] }, { clusters: slices });
      await looked();
      forget({ clusters: { b: { present: false } } });
      expect(isWoken()).toBe(true);
    });
  });

  test.each<[string, string[], object, number]>([
    ['where it is not to stay, with what else comes', ['b'], { observedGeneration: 3 }, 500],
    ['where it is to be, at once', ['a'], { observedGeneration: 3 }, 0],
    ['with other words, at once', ['b'], { observedGeneration: 3, present: false }, 0],
  ])(
    'that a cluster has seen the newest generation is looked at: %s',
    async (_what, clusters, slice, after) => {
      placement({ shares: { a: { phase: 'Active' }, b: { phase: 'Joining' } }, clusters });
      said({ present: true, observedGeneration: 2, status: { observedGeneration: 1 } });
      clock.advance(5000);
      await looked();
      said({ present: true, status: { observedGeneration: 2 }, ...slice });
      expect(isWoken()).toBe(after === 0);
      clock.advance(after);
      expect(isWoken()).toBe(true);
    },
  );

  test('that a cluster which it is to leave has seen the newest generation is looked at, in a rush, with its last word, or soon after', async () => {
    placement({ shares: { a: { phase: 'Active' }, b: { phase: 'Joining' } }, clusters: ['b'] });
    said({ present: true, observedGeneration: 2, status: { observedGeneration: 1 } });
    clock.advance(5000);
    await looked();
    rush.isOn = true;
    said({ present: true, status: { observedGeneration: 2 }, observedGeneration: 3 });
    clock.advance(4_999);
    expect(isWoken()).toBe(false);
    said({ present: false });
    expect(isWoken()).toBe(true);
    await looked();
    said({ present: false, observedGeneration: 4 });
    clock.advance(4_999);
    expect(isWoken()).toBe(false);
    clock.advance(1);
    expect(isWoken(), 'it may be the last that has to see it, and others may have said all').toBe(true);
  });

  test('is looked at where the scheduler has decided otherwise by the time that it is heard of', async () => {
    placement({ shares: joining, settled: 'False' });
    await looked();
    placement({ shares: active, settled: 'True', clusters: ['b'] });
    expect(isWoken()).toBe(true);
  });

  test('of a Deployment as its status, is not looked at; what somebody else wrote there is, after a while', async () => {
    const status = { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] };
    writing.set(key, status);
    root({ status: structuredClone(status) });
    writing.delete(key);
    clock.advance(1000);
    expect(isWoken()).toBe(false);
    root({ status: { replicas: 7 } });
    expect(isWoken()).toBe(false);
    clock.advance(1000);
    expect(isWoken()).toBe(true);
    await looked();
    root({ status: { replicas: 7 }, spec: { replicas: 2 } });
    expect(isWoken()).toBe(true);
  });
});

test('where a Deployment says that it is, is looked at with what its clusters say of that; what else its user changes, at once', async () => {
  const annotations = { [logicalClusterAnnotation]: 'root', 'atoll.dev/clusters': 'b' };
  root({ metadata: { ...metadata('web'), annotations, generation: 2 } });
  clock.advance(1000);
  expect(isWoken()).toBe(false);
  clock.advance(4000);
  expect(isWoken()).toBe(true);
  await looked();
  root({ metadata: { ...metadata('web'), annotations: { ...annotations, paused: 'yes' }, generation: 3 } });
  expect(isWoken()).toBe(true);
});

describe('a cluster', () => {
  function east(spec: object): void {
    const object = {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PhysicalCluster',
      metadata: metadata('a'),
      spec,
    };
    cacheOf('physicalclusters').put(object as KubeObject);
  }
  function job(status: object): void {
    const ref = {
      group: 'batch',
      version: 'v1',
      resource: 'jobs',
      kind: 'Job',
      name: 'once',
      uid: 'uid-of-once',
    };
    const [of, spec] = [
      metadata('once.jobs.batch'),
      { ref, clusters: ['b'], shares: { a: { phase: 'Active' } } },
    ];
    cacheOf('jobs').put({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: metadata('once'),
      status,
    } as KubeObject);
    cacheOf('placements').put({ ...placementHead, metadata: of, spec } as KubeObject);
  }
  const ended = { conditions: [{ type: 'Complete', status: 'True' }] };

  test.each([
    ['what has ended there is looked at', ended, true],
    ['what has not is the business of who decides where it is to be', {}, false],
  ])('that is drained after the scheduler said where all goes: %s', async (_, status, expected) => {
    east({});
    job(status);
    placement({ shares: { a: { phase: 'Active' } } });
    await looked();
    clock.advance(5000);
    await looked();
    east({ drain: true });
    expect(isWoken()).toBe(expected);
    if (expected) expect(await queue.take()).toBe('root/shop/once.jobs.batch');
  });
});

test('a Service that may lead to one pod of a StatefulSet is looked at when that is elsewhere', async () => {
  const ref = { group: 'apps', version: 'v1', resource: 'statefulsets', kind: 'StatefulSet', name: 'db' };
  const service = { group: '', version: 'v1', resource: 'services', kind: 'Service', name: 'db-1' };
  const put = (name: string, spec: object) =>
    cacheOf('placements').put({ ...placementHead, metadata: metadata(name), spec } as KubeObject);
  const set = (east: number, west: number) =>
    put('db.statefulsets.apps', {
      ref: { ...ref, uid: 'uid-of-db' },
      clusters: ['a', 'b'],
      requires: [service],
      shares: {
        a: { phase: 'Active', replicas: east, ordinalsStart: 0 },
        b: { phase: 'Active', replicas: west, ordinalsStart: east },
      },
    });
  put('db-1.services', { ref: { ...service, uid: 'uid-of-db-1' }, clusters: ['a', 'b'] });
  set(1, 2);
  await looked();
  set(2, 1);
  const woken = [await queue.take(), queue.length > 0 && (await queue.take())];
  expect(woken).toContain('root/shop/db-1.services');
});

test('an Ingress is looked at when a Service behind it selects others, though the same workloads use both', async () => {
  const ref = { group: 'apps', version: 'v1', resource: 'statefulsets', kind: 'StatefulSet', name: 'db' };
  const service = { group: '', version: 'v1', resource: 'services', kind: 'Service', name: 'db-1' };
  const ingress = {
    group: 'networking.k8s.io',
    version: 'v1',
    resource: 'ingresses',
    kind: 'Ingress',
    name: 'front',
  };
  const put = (name: string, of: typeof ref, more: object = {}) => {
    const spec = { ref: { ...of, uid: `uid-of-${of.name}` }, clusters: ['a', 'b'], ...more };
    cacheOf('placements').put({ ...placementHead, metadata: metadata(name), spec } as KubeObject);
  };
  const selects = (selector: object, more: object = {}) =>
    cacheOf('services').put({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadata('db-1'),
      spec: { selector, ports: [{ port: 80 }] },
      ...more,
    } as KubeObject);
  cacheOf('statefulsets').put({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadata('db'),
  } as KubeObject);
  const pod = { 'statefulset.kubernetes.io/pod-name': 'db-1' };
  selects(pod);
  put('db-1.services', service);
  put('front.ingresses.networking.k8s.io', ingress);
  put('db.statefulsets.apps', ref, { requires: [service, ingress] });
  await looked();
  const woken = async () => {
    const keys: (string | undefined)[] = [];
    while (queue.length > 0) {
      const taken = await queue.take();
      keys.push(taken);
      queue.done(taken ?? '');
    }
    return keys;
  };
  selects(pod, { status: { loadBalancer: {} } });
  expect(await woken()).not.toContain('root/shop/front.ingresses.networking.k8s.io');
  selects({ app: 'db' });
  expect(await woken()).toEqual(
    expect.arrayContaining([
      'root/shop/front.ingresses.networking.k8s.io',
      'root/shop/db.statefulsets.apps',
      'root/shop/db-1.services',
    ]),
  );
});

test('what needs a quota no more, as it has ended, wakes it: others may have what it wanted', async () => {
  const ref = {
    group: 'batch',
    version: 'v1',
    resource: 'jobs',
    kind: 'Job',
    name: 'once',
    uid: 'uid-of-once',
  };
  const quota = { version: 'v1', group: '', resource: 'resourcequotas', kind: 'ResourceQuota', name: 'q' };
  const put = (name: string, spec: object) =>
    cacheOf('placements').put({ ...placementHead, metadata: metadata(name), spec } as KubeObject);
  put('q.resourcequotas', { ref: { ...quota, uid: 'uid-of-q' }, clusters: ['a'] });
  put('once.jobs.batch', { ref, clusters: ['a'], requires: [quota] });
  await looked();
  put('once.jobs.batch', { ref, clusters: ['a'] });
  expect(queue.length).toBe(2);
  const woken = [await queue.take(), await queue.take()];
  expect(woken.sort()).toEqual(['root/shop/once.jobs.batch', 'root/shop/q.resourcequotas']);
});
