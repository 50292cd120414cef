import { beforeEach, describe, expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { Informer } from '../../../client/informer.ts';
import type { InformerSet } from '../../../client/informers.ts';
import type { ResourceRef } from '../../../client/url.ts';
import { logicalClusterAnnotation } from '../../../cluster/names.ts';
import type { PlacementSlice } from '../../../cluster/slices.ts';
import type { PlacementSpec } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Beginnings } from '../../../splitter/begin.ts';
import { observe, rootOf, type World } from '../../../splitter/world.ts';
import { cluster } from '../scheduler/world.ts';

const key = 'root/shop/web.deployments.apps';
const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'uid-of-web',
};
let caches: Map<string, Cache<KubeObject>>;
let world: World;
let beginnings: Beginnings;
let said: string[];
let slices: Map<string, PlacementSlice>;

const cacheOf = (resource: string) => {
  const cache = caches.get(resource) ?? new Cache<KubeObject>((error) => expect.fail(String(error)));
  caches.set(resource, cache);
  return cache;
};

const here = (name: string, resourceVersion = '1') => ({
  name,
  namespace: 'shop',
  uid: `uid-of-${name}`,
  resourceVersion,
  annotations: { [logicalClusterAnnotation]: 'root' },
});

function root(part: object = {}, resourceVersion = '1'): void {
  const spec = { replicas: 4, template: { spec: { containers: [] } } };
  const metadata = { ...here('web', resourceVersion), generation: 1 };
  cacheOf('deployments').put({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec,
    ...part,
  } as KubeObject);
}

beforeEach(() => {
  caches = new Map();
  said = [];
  slices = new Map<string, PlacementSlice>();
  beginnings = new Beginnings();
  const informers = { for: ({ resource }: ResourceRef) => cacheOf(resource) as unknown as Informer };
  world = observe(informers as unknown as InformerSet);
  for (const name of ['a', 'b']) {
    const of = cluster(name);
    const metadata = { ...of.metadata, annotations: { [logicalClusterAnnotation]: 'root' } };
    cacheOf('physicalclusters').put({ ...of, metadata });
  }
  root();
});

const made = (spec: Partial<PlacementSpec> = {}) => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'Placement',
  metadata: { name: 'web.deployments.apps', namespace: 'shop', finalizers: ['atoll.dev/shares'] },
  spec: { ref, clusters: ['a', 'b'], ...spec },
});

const begin = (spec: Partial<PlacementSpec> = {}) =>
  beginnings.of('root', made(spec), {
    world,
    spoken: { said: () => slices },
    recorder: { say: (_about, words) => void said.push(...words.map(({ reason }) => reason)) },
  });

function placed(resource: string, name: string, spec: object): void {
  const of = { ...ref, group: '', resource, kind: 'ConfigMap', name };
  const metadata = here(`${name}.${resource}`);
  cacheOf('placements').put({ ...made(), metadata, spec: { ref: of, ...spec } } as KubeObject);
}

test('a new Deployment is told its shares with what it is made with, as the splitter would divide it', () => {
  const begun = begin();
  const { placement } = begun ?? {};
  expect(placement?.spec?.shares).toMatchObject({
    a: { phase: 'Joining', replicas: 2 },
    b: { phase: 'Joining', replicas: 2 },
  });
  expect(placement?.status?.conditions?.map(({ type, status }) => `${type}=${status}`)).toEqual([
    'Placed=True',
    'Settled=False',
  ]);
  expect(placement?.metadata).toEqual(made().metadata);
  expect(said).toEqual([]);
  begun?.made();
  expect(said, 'of where it comes to its maker tells').toEqual([]);
});

describe('it is left to the splitter, which sees it later,', () => {
  test.each<[string, Partial<PlacementSpec>, () => void]>([
    [
      'where there is one',
      {},
      () => cacheOf('placements').put({ ...made(), metadata: here('web.deployments.apps') }),
    ],
    ['where something is said of a former one', {}, () => void slices.set('a', {} as PlacementSlice)],
    ['where it has shares', { shares: { a: { phase: 'Active', replicas: 4 } } }, () => undefined],
    ['where its object is another', { ref: { ...ref, uid: 'former' } }, () => undefined],
    ['where its object is not seen', { ref: { ...ref, name: 'other' } }, () => undefined],
    ['where it is to be nowhere', { clusters: [] }, () => undefined],
    [
      'where its object goes',
      {},
      () => root({ metadata: { ...here('web', '2'), deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ],
    [
      'where an autoscaler scales it',
      {},
      () =>
        cacheOf('horizontalpodautoscalers').put({
          apiVersion: 'autoscaling/v2',
          kind: 'HorizontalPodAutoscaler',
          metadata: here('web'),
          spec: {
            minReplicas: 2,
            maxReplicas: 8,
            scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          },
        } as KubeObject),
    ],
    [
      'where what it requires has no shares yet',
      { requires: [{ group: '', resource: 'configmaps', name: 'web' }] },
      () => placed('configmaps', 'web', { clusters: ['a', 'b'], shares: { a: { phase: 'Joining' } } }),
    ],
  ])('%s', (_what, spec, arrange) => {
    arrange();
    expect(begin(spec)).toBeUndefined();
  });

  test('and where all that it requires has shares there, it is not', () => {
    const shares = { a: { phase: 'Joining' }, b: { phase: 'Active' } };
    placed('configmaps', 'web', { clusters: ['a', 'b'], shares });
    const begun = begin({ requires: [{ group: '', resource: 'configmaps', name: 'web' }] });
    expect(Object.keys(begun?.placement.spec?.shares ?? {})).toEqual(['a', 'b']);
  });
});

describe('one that comes as it was begun is no news,', () => {
  const come = (placement = begin()?.placement) =>
    placement !== undefined &&
    beginnings.isForeseen(key, placement, rootOf(world, key, placement.spec ?? made().spec));

  test('once', () => {
    const begun = begin();
    expect(come(begun?.placement)).toBe(true);
    expect(come(begun?.placement)).toBe(false);
  });

  test('unless its object has changed meanwhile, or it was made otherwise, or not at all, or something is said of it', () => {
    const first = begin();
    root({ spec: { replicas: 6 } }, '2');
    expect(come(first?.placement)).toBe(false);
    begin();
    expect(
      come({ ...made(), spec: { ...made().spec, shares: { a: { phase: 'Joining', replicas: 6 } } } }),
    ).toBe(false);
    const second = begin();
    second?.failed();
    expect(come(second?.placement)).toBe(false);
    const third = begin()?.placement;
    expect(come(third && { ...third, status: { ...third.status, clusters: { a: { present: true } } } })).toBe(
      false,
    );
  });
});

describe('a Deployment that is sent elsewhere', () => {
  const on = (
    spec: Partial<PlacementSpec> = {},
    status: object = { clusters: { a: { present: true } } },
  ) => ({
    ...made(),
    metadata: { ...made().metadata, ...here('web.deployments.apps', '7') },
    spec: {
      ...made().spec,
      clusters: ['a'],
      shares: { a: { phase: 'Active' as const, replicas: 4 } },
      ...spec,
    },
    status,
  });
  const go = (old = on(), clusters = ['b']) =>
    beginnings.of(
      'root',
      { ...old, spec: { ...old.spec, clusters } },
      {
        world,
        spoken: { said: () => slices },
        recorder: { say: (_about, words) => void said.push(...words.map(({ reason }) => reason)) },
      },
      old,
    );

  beforeEach(() => void cacheOf('placements').put(on() as KubeObject));

  test('is told where it comes to with where it is to be, beside what it has', () => {
    const begun = go();
    expect(begun?.placement.spec?.clusters).toEqual(['b']);
    expect(begun?.placement.spec?.shares).toMatchObject({
      a: { phase: 'Active', replicas: 4 },
      b: { phase: 'Joining', replicas: 4 },
    });
    expect(begun?.placement.status?.clusters).toEqual({ a: { present: true } });
    begun?.made();
    expect(said).toEqual(['Joining']);
  });

  test.each<[string, () => ReturnType<typeof go>]>([
    [
      'the splitter has seen another one',
      () => go({ ...on(), metadata: { ...on().metadata, resourceVersion: '8' } }),
    ],
    ['it stays where it is', () => go(on(), ['a'])],
    ['it comes to many', () => go(on(), [...'bcdefghij'])],
    ['it leaves more than it comes to', () => go(on({ clusters: ['a', 'b'] }), ['a'])],
    ['an autoscaler says how many', () => go(on({ scale: { generation: 2 } as never }))],
    ['it is orphaned', () => go(on({ orphaned: ref.uid }))],
    [
      'its object goes',
      () => {
        root({ metadata: { ...here('web', '2'), deletionTimestamp: '2026-01-01T00:00:00Z' } });
        return go();
      },
    ],
    [
      'what it requires has no share there',
      () => {
        placed('configmaps', 'web', { clusters: ['b'], shares: { a: { phase: 'Active' } } });
        return go(on({ requires: [{ group: '', resource: 'configmaps', name: 'web' }] }));
      },
    ],
  ])('is left to the splitter where %s', (_what, going) => {
    expect(going()).toBeUndefined();
  });

  test('is no news as it was sent, unless a cluster has spoken meanwhile', () => {
    const come = (status?: object) => {
      const placement = go()?.placement ?? on();
      const now = { ...placement, ...(status && { status }) };
      return beginnings.isForeseen(key, now, rootOf(world, key, now.spec ?? on().spec));
    };
    expect(come()).toBe(true);
    expect(come({ clusters: { a: { present: false } } })).toBe(false);
  });
});
