import { describe, expect, it } from 'vitest';
import type { ClusterSlice, Placement, PlacementSpec, Share } from '../../../cluster/types.ts';
import { autoscalerBounds, scalerOf, scaleTarget } from '../../../splitter/autoscaler.ts';
import { toldOf } from '../../../splitter/lower.ts';
import { split } from '../../../splitter/split.ts';
import { deployment, placed } from '../cluster/objects.ts';

const now = 100_000;
const refOf = ({ group, version, resource, kind }: ReturnType<typeof deployment>['kind']) => ({
  group,
  version,
  resource,
  kind,
  name: 'api',
});
const placementOf = (spec: PlacementSpec, clusters: Record<string, ClusterSlice>): Placement => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'Placement',
  metadata: { name: 'p' },
  spec,
  status: { clusters },
});

/** Three of a Deployment on west, whose autoscaler keeps three at least, and that now is to be on east, too. */
class Spread {
  replicas = 3;
  generation = 1;
  readonly hpa = placed('HorizontalPodAutoscaler', 'api', {
    spec: {
      minReplicas: 3,
      maxReplicas: 9,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' },
    },
  });
  shares: Record<string, Share> = {
    east: { phase: 'Active', replicas: 1, scaled: 1 },
    west: { phase: 'Active', replicas: 3, scaled: 1 },
  };
  scale: PlacementSpec['scale'] = { replicas: 3, clusters: ['west'], generation: 1 };
  /** What the physical Deployments have. */
  readonly there: Record<string, { replicas: number; scaled: number }> = {
    east: { replicas: 1, scaled: 1 },
    west: { replicas: 3, scaled: 1 },
  };
  /** The minimum that each physical autoscaler was told last. */
  told: Record<string, number> = { east: 1, west: 3 };
  error = false;
  /** How many are available, where that is not all. */
  readonly ready: Record<string, number> = {};

  get placement(): Placement {
    const ref = { ...refOf(deployment('api', {}).kind), uid: 'Deployment-api' };
    const slice = ([c, { replicas, scaled }]: [string, { replicas: number; scaled: number }]) => {
      const availableReplicas = this.ready[c] ?? replicas;
      const status = { replicas, updatedReplicas: replicas, availableReplicas };
      return [c, { present: true, observedGeneration: 99, share: { replicas, scaled }, status }] as const;
    };
    const scale = this.scale && { scale: this.scale };
    return placementOf(
      { ref, clusters: ['east', 'west'], shares: this.shares, ...scale },
      Object.fromEntries(Object.entries(this.there).map(slice)),
    );
  }

  get autoscaler(): Placement {
    const ref = { ...refOf(this.hpa.kind), uid: 'HorizontalPodAutoscaler-api' };
    const shares = Object.fromEntries(Object.keys(this.told).map((c) => [c, { phase: 'Active' as const }]));
    const said = ([c, replicas]: [string, number]) =>
      [
        c,
        { present: true, share: { replicas }, ...(this.error && { error: { reason: 'r', message: '' } }) },
      ] as const;
    const slices = Object.fromEntries(Object.entries(this.told).map(said)) as Record<string, ClusterSlice>;
    return placementOf({ ref, clusters: ['east', 'west'], shares }, slices);
  }

  split(): this {
    const { replicas, generation, placement } = this;
    const root = deployment('api', { replicas, metadata: { generation } }).object;
    const heard = { isKnown: () => true, heardAt: () => Number.POSITIVE_INFINITY, now, settleMs: 0 };
    const scaler = scalerOf(this.hpa.object);
    const done = split({ ...heard, placement, root, scaler, toldAt: toldOf(this.autoscaler) });
    const total = done.scale?.replicas ?? 0;
    if (total !== this.replicas) {
      this.replicas = total;
      this.generation++;
    }
    this.shares = { ...done.shares };
    this.scale = done.scale && { ...done.scale, generation: this.generation };
    return this;
  }

  /** What the autoscalers are to be told, as the shares stand. */
  bounds(): Record<string, number> {
    const root = deployment('api', { replicas: this.replicas }).object;
    const found = autoscalerBounds(this.hpa.object, ['east', 'west'], scaleTarget(root, this.placement));
    return Object.fromEntries([...found].map(([c, { replicas }]) => [c, replicas]));
  }

  /** The syncer: the numbers that it was told to set, once. */
  apply(): this {
    for (const [c, { replicas = 0, scaled = 0 }] of Object.entries(this.shares))
      if (this.there[c]?.scaled !== scaled) this.there[c] = { replicas, scaled };
    return this;
  }
}

describe('where an autoscaler has the replicas, and they are to be fewer', () => {
  it('its minimum is lowered first, and nothing that it does meanwhile makes them more', () => {
    const world = new Spread().split().apply();
    expect(world.there['west']?.replicas).toBe(3);
    expect(world.shares['west']).toMatchObject({ phase: 'Active', replicas: 3, goal: { replicas: 2 } });
    expect(world.bounds()).toEqual({ east: 1, west: 2 });
    expect(world.split().shares['west']).toMatchObject({ replicas: 3, scaled: 1, goal: { replicas: 2 } });
    world.told = world.bounds();
    world.split().apply();
    expect(world.shares['west']).toEqual(expect.not.objectContaining({ goal: expect.anything() }));
    expect(world.there['west']).toEqual({ replicas: 2, scaled: 2 });
    expect(world.split().scale).toMatchObject({ replicas: 3, clusters: ['east', 'west'] });
  });

  it.each<[string, number, number]>([
    ['lowers them itself', 2, 3],
    ['lowers them more', 1, 2],
    ['raises them', 5, 5],
  ])('and its autoscaler %s meanwhile', (_, replicas, total) => {
    const world = new Spread().split().apply();
    world.told = world.bounds();
    world.there['west'] = { replicas, scaled: 1 };
    world.split().apply().split();
    expect(world.replicas).toBe(total);
    const sum = Object.values(world.shares).reduce((all, share) => all + (share.replicas ?? 0), 0);
    expect(sum).toBe(total);
  });

  it.each<[string, (world: Spread) => void]>([
    [
      'is not there',
      (world) => {
        world.told = {};
      },
    ],
    [
      'is not taken by its cluster',
      (world) => {
        world.error = true;
      },
    ],
    [
      'keeps no more than that',
      (world) => {
        world.told = { east: 1, west: 2 };
      },
    ],
  ])('nobody waits for one that %s', (_, change) => {
    const world = new Spread();
    change(world);
    world.split().apply();
    expect(world.there['west']?.replicas).toBe(2);
  });

  it('and the pods that were to replace them fail meanwhile: they stay until others are there', () => {
    const world = new Spread().split().apply();
    world.ready['east'] = 0;
    world.told = world.bounds();
    world.split().apply();
    expect(world.there['west']?.replicas).toBe(3);
    expect(world.shares['west']).toMatchObject({ replicas: 3, goal: { replicas: 2 } });
    delete world.ready['east'];
    world.split().apply();
    expect(world.there['west']?.replicas).toBe(2);
    expect(world.split().scale).toMatchObject({ replicas: 3, clusters: ['east', 'west'] });
  });

  it('and in two places at once, where only one of them can go', () => {
    const world = new Spread();
    world.shares = {
      east: { phase: 'Active', replicas: 3, scaled: 1, goal: { replicas: 2 } },
      west: { phase: 'Active', replicas: 3, scaled: 1, goal: { replicas: 2 } },
    };
    world.there['east'] = { replicas: 3, scaled: 1 };
    world.there['west'] = { replicas: 3, scaled: 1 };
    world.ready['west'] = 2;
    world.scale = { replicas: 4, clusters: ['east', 'west'], generation: 1 };
    world.replicas = 4;
    world.told = { east: 2, west: 2 };
    world.split().apply();
    // Of the five that are available one may go.
    const available = Object.entries(world.there).map(([c, { replicas }]) =>
      Math.min(replicas, world.ready[c] ?? replicas),
    );
    expect(available.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(4);
  });

  it('who scales down waits as well, and gets what was asked for', () => {
    const world = new Spread();
    world.shares = {
      east: { phase: 'Active', replicas: 3, scaled: 1 },
      west: { phase: 'Active', replicas: 3, scaled: 1 },
    };
    world.there['east'] = { replicas: 3, scaled: 1 };
    world.scale = { replicas: 6, clusters: ['east', 'west'], generation: 1 };
    world.told = { east: 2, west: 1 };
    world.replicas = 3;
    world.generation = 2;
    for (let round = 0; round < 4; round++) {
      world.split().apply();
      world.told = world.bounds();
    }
    expect(world.replicas).toBe(3);
    expect(Object.values(world.there).reduce((sum, { replicas }) => sum + replicas, 0)).toBe(3);
    expect(world.scale).toMatchObject({ replicas: 3, clusters: ['east', 'west'] });
  });
});
