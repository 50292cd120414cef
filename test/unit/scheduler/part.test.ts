import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { Informer } from '../../../client/informer.ts';
import { objectKey, type ResourceRef } from '../../../client/url.ts';
import type { PlacedObject } from '../../../cluster/closure.ts';
import type { Resources } from '../../../cluster/pod-spec.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import type { Placement, Share } from '../../../cluster/types.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { formatQuantity } from '../../../kube/quantity.ts';
import { consider, considerPart } from '../../../scheduler/consider.ts';
import { worldOf } from '../../../scheduler/copy.ts';
import { turnMs } from '../../../scheduler/turns.ts';
import type { NamespaceDecision } from '../../../scheduler/types.ts';
import { wake } from '../../../scheduler/wake.ts';
import { observe, type World } from '../../../scheduler/world.ts';
import { Random } from '../../fault/random.ts';
import { deployment, placed } from '../cluster/objects.ts';
import { Stored } from './stored.ts';
import { annotations, cluster } from './world.ts';

const key = 'one//shop';
const of = { 'kcp.io/cluster': 'one' };

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** One Namespace as informers tell the scheduler of it, and as it is stored. */
class Followed {
  readonly stored = new Stored();
  readonly world: World;
  /** How many decisions were about a part, and about all. */
  readonly looks = { part: 0, all: 0, none: 0 };
  readonly #caches = new Map<string, Cache<KubeObject>>();
  readonly #queue = new WorkQueue();
  #version = 0;

  constructor() {
    const following = ({ resource }: ResourceRef) => {
      const cache = this.#cache(resource);
      return Object.assign(cache, {
        hasSynced: true,
        list: () => [...cache.values()],
      }) as unknown as Informer;
    };
    this.world = observe({ for: following } as never);
    wake(this.world, this.#queue);
    for (const name of ['a', 'b']) this.cluster(name, { capacity: { cpu: '3' }, copier: 'x' });
    this.namespace();
  }

  put(resource: string, object: KubeObject, annotated = of): void {
    const { annotations: own = {}, ...metadata } = object.metadata;
    const resourceVersion = String(++this.#version);
    const made = {
      ...object,
      metadata: { ...metadata, resourceVersion, annotations: { ...own, ...annotated } },
    };
    this.stored.put(resource, made);
    this.#cache(resource).put(made);
  }

  remove(resource: string, name: string): void {
    const isIt = ({ metadata }: KubeObject) => metadata.name === name;
    const gone = this.stored.list(resource).find(isIt);
    if (!gone) return;
    this.stored.lists.set(
      resource,
      this.stored.list(resource).filter((one) => !isIt(one)),
    );
    this.#cache(resource).remove(gone);
  }

  object({ kind, object }: PlacedObject): void {
    this.put(kind.resource, object);
  }

  cluster(name: string, fields: Parameters<typeof cluster>[1] = {}): void {
    this.put('physicalclusters', cluster(name, fields), { 'kcp.io/cluster': 'root' });
  }

  namespace(clusters?: string): void {
    const metadata = { name: 'shop', uid: 'shop', ...(clusters && annotations(clusters, 'admin')) };
    this.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  }

  sharesOf(of: (placement: Placement) => Record<string, Share> | undefined): void {
    for (const one of this.stored.list('placements') as Placement[])
      this.put('placements', { ...one, spec: { ...one.spec, shares: of(one) } } as KubeObject);
  }

  /** As a splitter gives shares, and takes them from what is to be there no longer. */
  share(random: Random): void {
    for (const one of this.stored.list('placements') as Placement[]) {
      if (!one.spec || random.chance(0.5)) continue;
      const { clusters, shares: had = {} } = one.spec;
      const left = Object.keys(had).filter((c) => !clusters.includes(c) && random.chance(0.5));
      const phase = (c: string) => (clusters.includes(c) ? 'Active' : 'Leaving');
      const shares = Object.fromEntries(
        [...clusters, ...left].map((c): [string, Share] => [
          c,
          { phase: phase(c), replicas: random.pick([0, 1, 1, 3]) },
        ]),
      );
      this.put('placements', { ...one, spec: { ...one.spec, shares } } as KubeObject);
    }
  }

  /** As syncers say of claims where they are. */
  bind(): void {
    for (const one of this.stored.list('placements') as Placement[]) {
      const clusters = Object.fromEntries(
        (one.spec?.clusters ?? []).map((c) => [c, { present: true, status: { phase: 'Bound' } }]),
      );
      if (one.spec?.ref.kind === 'PersistentVolumeClaim')
        this.put('placements', { ...one, status: { clusters } } as KubeObject);
    }
  }

  /** As one reflects what a set's controller made. */
  claimOf(name: string, random: Random): void {
    const from = random.pick(['a', 'b']);
    const claim = `t-${name}-${random.pick([0, 1])}`;
    const uid = `PersistentVolumeClaim-${claim}`;
    const status = { phase: random.pick(['Bound', 'Pending']) };
    const metadata = { annotations: reflectedAs({}, uid, [from]) };
    this.object(placed('PersistentVolumeClaim', claim, { status, metadata }));
  }

  /** What a copier says. */
  copy(claim: string, random: Random): void {
    const [from, to] = random.pick([
      ['a', 'b'],
      ['b', 'a'],
    ]);
    const kind = { apiVersion: 'atoll.dev/v1alpha1', kind: 'VolumeCopy' };
    const status = { phase: random.pick(['Copying', 'Copied', 'Failed']) };
    const of = {
      group: 'apps',
      resource: 'statefulsets',
      name: 'u',
      uid: random.pick(['u-true', 'another']),
    };
    const spec = { claim, from, to, workload: of };
    this.put('volumecopies', { ...kind, metadata: { name: claim, namespace: 'shop' }, spec, status });
  }

  /** Whatever is decided about a part is what a look at all says, until nothing is left to do. */
  decide(said: string): void {
    for (let round = 0; round < 12; round++) {
      vi.advanceTimersByTime(1000);
      const all = consider(key, worldOf(this.stored.of));
      this.#checkQuiet(`${said}, round ${round}`, all);
      const part = considerPart(key, this.world);
      this.looks[part ? 'part' : 'all'] += 1;
      if (part) expect(this.#shownWhole(part), `${said}, round ${round}`).toEqual(shown(all));
      if (!this.#apply(part ?? consider(key, this.world))) return;
    }
    expect.fail(`${said}: it never ends`);
  }

  /** What is no news to the last decision is none to a look at all, and nothing more is taken. */
  #checkQuiet(said: string, all: NamespaceDecision): void {
    const standing = this.world.standings.get(key);
    if (!standing || standing.concerned.size > 0) return;
    this.looks.none += 1;
    const { create, update, remove, annotate, finish, leaveData } = all;
    expect([create, update, remove, annotate, finish, leaveData].flat(), said).toEqual([]);
    const { ledger, settled } = this.world;
    const taken = [ledger.of(key), settled.of(key)];
    expect(taken.map(amounts), said).toEqual([all.usage, all.settled].map(amounts));
  }

  /** With what the whole Namespace takes then. */
  #shownWhole(part: NamespaceDecision) {
    const { ledger, settled } = this.world;
    return { ...shown(part), usage: amounts(ledger.of(key)), settled: amounts(settled.of(key)) };
  }

  #apply({ create, update, remove, annotate }: NamespaceDecision): boolean {
    for (const one of create) this.put('placements', one);
    for (const { wanted } of update) this.put('placements', wanted);
    for (const { metadata } of remove) this.remove('placements', metadata.name ?? '');
    for (const {
      placed: { kind, object },
      clusters,
    } of annotate) {
      const {
        'atoll.dev/clusters': _is,
        'atoll.dev/placed-by': _by,
        ...rest
      } = object.metadata.annotations ?? {};
      const ours = clusters === undefined ? {} : annotations(clusters, 'system:atoll:scheduler').annotations;
      const metadata = { ...object.metadata, annotations: { ...rest, ...ours } };
      this.put(kind.resource, { ...object, metadata });
    }
    return create.length + update.length + remove.length + annotate.length > 0;
  }

  #cache(resource: string): Cache<KubeObject> {
    const found = this.#caches.get(resource) ?? new Cache<KubeObject>((error) => expect.fail(String(error)));
    this.#caches.set(resource, found);
    return found;
  }
}

/** In any order; and without what is looked up only to decide when to look again. */
function shown({ create, update, remove, annotate, finish, leaveData, ...rest }: NamespaceDecision) {
  const { blocked, lookAgain, open, toleratedUntil, turnUntil, leaving, waiting } = rest;
  const byKey = (objects: readonly KubeObject[]) =>
    [...objects].sort((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1));
  return {
    create: byKey(create),
    update: byKey(update.map(({ wanted }) => wanted)),
    remove: byKey(remove),
    finish: byKey(finish),
    annotate: annotate.map(({ placed: { object }, clusters }) => [object.metadata.name, clusters]).sort(),
    leaveData: leaveData.map(({ placed: { object } }) => object.metadata.name).sort(),
    usage: amounts(rest.usage),
    settled: amounts(rest.settled),
    blocked,
    lookAgain: lookAgain === true,
    open: open === true,
    toleratedUntil,
    turnUntil,
    leaving,
    waiting,
  };
}

function amounts(usage: ReadonlyMap<string, Resources>) {
  return [...usage]
    .map(
      ([name, all]) =>
        [
          name,
          [...all]
            .filter(([, n]) => n.value !== 0n)
            .map(([of, n]) => `${of}=${formatQuantity(n)}`)
            .sort(),
        ] as const,
    )
    .filter(([, all]) => all.length > 0)
    .sort();
}

const names = ['u', 'v', 'w'] as const;
const few = ['x', 'y'] as const;

/** One write of a user, of a cluster's administrator, or of a cluster. */
function write(made: Followed, random: Random): string {
  const name = random.pick(names);
  const some = <T>(one: T) => (random.chance(0.4) ? one : undefined);
  const used = random.pick(few);
  const container = { name: 'c', image: 'i', resources: { requests: { cpu: random.pick(['1', '250m']) } } };
  const volumes = [
    some({ name: 'c', configMap: { name: used } }),
    some({ name: 's', secret: { secretName: random.pick(few) } }),
    some({ name: 'd', persistentVolumeClaim: { claimName: used } }),
  ].filter((one) => one !== undefined);
  const podSpec = {
    volumes,
    containers: [container],
    ...(random.chance(0.3) && { serviceAccountName: used }),
  };
  const where = some(annotations(random.pick(['a', 'b', 'a,b'])).annotations);
  const word = some({ 'atoll.dev/volumes': random.pick(['copy', 'copy', 'recreate', 'hold']) });
  const metadata = (where || word) && { annotations: { ...where, ...word } };
  const uid = `${name}-${random.chance(0.9)}`;
  const steps: Record<string, () => void> = {
    workload: () =>
      made.object(
        deployment(name, { podSpec, replicas: random.pick([0, 1, 3]), metadata: { ...metadata, uid } }),
      ),
    'another workload': () => made.object(deployment(name, { podSpec, metadata: { uid } })),
    job: () => made.object(placed('Job', name, { spec: { template: { spec: podSpec } } })),
    'workload goes': () => made.remove(random.pick(['deployments', 'jobs']), name),
    configmap: () => made.object(placed('ConfigMap', used, { data: {}, ...(metadata && { metadata }) })),
    secret: () => made.object(placed('Secret', used, { data: {} })),
    account: () =>
      made.object(
        placed('ServiceAccount', random.pick([used, 'default']), { secrets: [{ name: random.pick(few) }] }),
      ),
    claim: () =>
      made.object(
        placed('PersistentVolumeClaim', used, { spec: {}, ...(word && { metadata: { annotations: word } }) }),
      ),
    set: () => {
      const volumeClaimTemplates = [{ metadata: { name: 't', ...(word && { annotations: word }) } }];
      const replicas = random.pick([0, 1, 3]);
      const spec = { replicas, volumeClaimTemplates, template: { spec: podSpec } };
      made.object(placed('StatefulSet', name, { spec, ...(metadata && { metadata }) }));
    },
    'claim of a set': () => made.claimOf(name, random),
    copy: () => made.copy(random.pick([...few, `t-${name}-0`]), random),
    'what is used goes': () =>
      made.remove(
        random.pick(['configmaps', 'secrets', 'serviceaccounts', 'persistentvolumeclaims', 'services']),
        used,
      ),
    service: () => made.object(placed('Service', used, { spec: { selector: { app: name } } })),
    budget: () =>
      made.object(
        placed('PodDisruptionBudget', used, { spec: { selector: { matchLabels: { app: name } } } }),
      ),
    namespace: () => made.namespace(random.pick([undefined, 'a', 'a,b'])),
    cluster: () =>
      made.cluster(random.pick(['a', 'b']), {
        unschedulable: random.chance(0.2),
        drain: random.chance(0.15),
        capacity: random.pick([{ cpu: '3' }, { cpu: '100' }]),
        ...(random.chance(0.7) && { copier: 'x' }),
      }),
    bound: () => made.bind(),
  };
  const often = [
    'set',
    'bound',
    'claim of a set',
    'workload',
    'another workload',
    'workload goes',
    'job',
    'configmap',
    'secret',
  ] as const;
  const step = random.pick([...often, ...often, ...Object.keys(steps)]);
  steps[step]?.();
  return step;
}

describe('a look at a part of a Namespace', () => {
  test('decides what a look at all of it does, whatever has happened', () => {
    const looks = { part: 0, all: 0, none: 0 };
    for (let seed = 1; seed <= 60; seed++) {
      const random = new Random(seed);
      const made = new Followed();
      const steps: string[] = [];
      if (random.chance(0.5)) made.namespace('a');
      for (let n = 0; n < 14; n++) {
        for (let more = 0; more === 0 || random.chance(0.2); more++) steps.push(write(made, random));
        if (random.chance(0.5)) made.share(random);
        made.decide(`seed ${seed}: ${steps.join(', ')}`);
      }
      looks.part += made.looks.part;
      looks.all += made.looks.all;
      looks.none += made.looks.none;
    }

    expect(looks.part).toBeGreaterThan(looks.all / 2);
    expect(looks.none).toBeGreaterThan(0);
  });

  test.each([
    ['a part, while nothing of it is on a cluster that is drained', 'b', true],
    ['all, while some of it is', 'a', false],
  ])('is at %s', (_, drained, isPart) => {
    const made = new Followed();
    made.cluster(drained, { drain: true });
    made.object(deployment('u', { metadata: annotations('a') }));
    made.decide('one comes');
    made.object(deployment('u', { replicas: 2, metadata: annotations('a') }));
    expect(considerPart(key, made.world) !== undefined).toBe(isPart);
  });

  describe('of what leaves a cluster that is drained', () => {
    /** Three are on it, of which each is told to leave and has begun to come to the other cluster. */
    function drained(fields: { drainConcurrent?: number }): Followed {
      const made = new Followed();
      for (const name of ['a', 'b']) made.cluster(name, { capacity: { cpu: '100' } });
      for (const name of names) made.object(deployment(name, { metadata: annotations('a') }));
      made.decide('they come');
      made.sharesOf(() => ({ a: { phase: 'Active', replicas: 1 } }));
      for (const name of names) made.object(deployment(name));
      made.decide('nobody says where');
      made.cluster('a', { capacity: { cpu: '100' }, drain: true, ...fields });
      made.decide('it is drained');
      const joining: Share = { phase: 'Joining', replicas: 1 };
      made.sharesOf(({ spec }) =>
        spec?.clusters.includes('b') ? { ...spec.shares, b: joining } : spec?.shares,
      );
      made.decide('they begin to come');
      return made;
    }

    test('is at what was written, with how many leave and until when', () => {
      const made = drained({});
      const before = { ...made.looks };
      made.object(deployment('u', { replicas: 2 }));
      const part = considerPart(key, made.world);
      expect(part?.leaving).toEqual(new Map([['a', 3]]));
      const all = consider(key, worldOf(made.stored.of));
      expect([part?.turnUntil, part?.leaving]).toEqual([all.turnUntil, all.leaving]);
      made.sharesOf(({ spec }) => ({ b: { phase: 'Active', replicas: 1, ...spec?.shares?.['b'] } }));
      made.decide('they have left');
      expect(made.looks.part).toBeGreaterThan(before.part);
      expect(made.world.leavers.isCalm('a')).toBe(true);
    });

    test('is at all once a turn has ended', () => {
      const made = drained({});
      vi.advanceTimersByTime(turnMs);
      made.object(deployment('u', { replicas: 2 }));
      expect(considerPart(key, made.world)).toBeUndefined();
      expect(consider(key, made.world).leaving).toEqual(new Map());
    });

    test('is at all where no more than some may leave at a time', () => {
      const made = drained({ drainConcurrent: 3 });
      made.object(deployment('u', { replicas: 2 }));
      expect(considerPart(key, made.world)).toBeUndefined();
    });
  });

  test('counts nothing anew of clusters that it is not about', () => {
    const made = new Followed();
    made.object(deployment('u', { metadata: annotations('a') }));
    made.object(deployment('v', { metadata: annotations('b') }));
    made.decide('both come');
    const sums = (name: string) =>
      [made.world.ledger, made.world.settled].map(({ total }) => total.get(name));
    const [a, b] = [sums('a'), sums('b')];
    made.object(deployment('u', { replicas: 2, metadata: annotations('a') }));
    expect(considerPart(key, made.world)).toBeDefined();
    expect(sums('a')).not.toEqual(a);
    for (const [i, sum] of sums('b').entries()) expect(sum).toBe(b[i]);
  });

  test.each<[string, Record<string, Share>, number]>([
    ['nothing where a share begins as was decided', { a: { phase: 'Joining', replicas: 1 } }, 0],
    ['whose share has other pods than were counted', { a: { phase: 'Joining', replicas: 2 } }, 1],
    ['whose share is where none is to be', { b: { phase: 'Joining', replicas: 1 } }, 1],
    ['whose share leaves', { a: { phase: 'Leaving', replicas: 1 } }, 1],
  ])('is at %s', (_, shares, looked) => {
    const made = new Followed();
    made.object(deployment('u', { metadata: annotations('a') }));
    made.decide('one comes');
    made.object(deployment('v', { metadata: annotations('a') }));
    made.decide('another comes');
    expect(made.world.standings.get(key)?.concerned.size).toBe(0);
    const placement = (made.stored.list('placements') as Placement[]).find((p) => p.spec?.ref.name === 'v');
    made.put('placements', { ...placement, spec: { ...placement?.spec, shares } } as KubeObject);
    expect(made.world.standings.get(key)?.concerned.size).toBe(looked);
  });

  test.each<[string, string, Record<string, Share> | undefined, number]>([
    ['no Placement that comes as was decided', 'a', undefined, 0],
    ['a Placement that comes otherwise', 'b', undefined, 1],
    ['none that comes with its first shares', 'a', { a: { phase: 'Joining', replicas: 1 } }, 0],
    ['one that comes with shares of other pods', 'a', { a: { phase: 'Joining', replicas: 2 } }, 1],
    ['one that comes with a share elsewhere', 'a', { b: { phase: 'Joining', replicas: 1 } }, 1],
    ['one that comes with a share that is counted on', 'a', { a: { phase: 'Active', replicas: 1 } }, 1],
  ])('is at %s', (_, on, shares, looked) => {
    const made = new Followed();
    made.object(deployment('u', { metadata: annotations('a') }));
    made.decide('one comes');
    made.object(deployment('v', { metadata: annotations('a') }));
    const decision = considerPart(key, made.world);
    const [placement] = decision?.create ?? [];
    made.put('placements', {
      ...placement,
      spec: { ...placement?.spec, clusters: [on], ...(shares && { shares }) },
    } as KubeObject);
    expect(made.world.standings.get(key)?.concerned.size).toBe(looked);
  });

  test('is at all that use a claim that holds data: none of them gives it up alone', () => {
    const made = new Followed();
    const podSpec = { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'x' } }] };
    made.object(placed('PersistentVolumeClaim', 'x', { spec: {} }));
    for (const name of ['u', 'v']) made.object(deployment(name, { podSpec, metadata: annotations('a') }));
    made.decide('they come');
    const random = new Random(1);
    for (let n = 0; n < 9; n++) made.share(random);
    made.bind();
    made.decide('it is bound');
    const before = made.looks.part;
    made.object(deployment('u', { podSpec, metadata: annotations('b') }));
    made.decide('one is to leave it');
    expect(made.looks.part).toBeGreaterThan(before);
    const claim = (made.stored.list('placements') as Placement[]).find(({ spec }) => spec?.ref.name === 'x');
    expect(claim?.spec?.givenUp).toBeUndefined();
  });
});
