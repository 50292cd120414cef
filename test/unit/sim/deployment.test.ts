import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod, Workload } from '../../../sim/types.ts';
import { isReady } from '../../../sim/workloads/children.ts';
import { decideDeployment } from '../../../sim/workloads/deployment.ts';
import { decideReplicaSet } from '../../../sim/workloads/replicaset.ts';
import { bounds, type DeploymentSpec } from '../../../sim/workloads/rollout.ts';
import { become, now, workload } from './make.ts';

/** A Deployment, its ReplicaSets and their pods, moved one controller or one pod at a time. */
class World {
  deployment: Workload<DeploymentSpec>;
  sets: Workload[] = [];
  pods: Pod[] = [];

  constructor(spec: object) {
    this.deployment = workload('Deployment', spec) as Workload<DeploymentSpec>;
  }

  edit(spec: object): void {
    const { metadata } = this.deployment;
    this.deployment = {
      ...this.deployment,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...(this.deployment.spec as DeploymentSpec), ...spec },
    };
  }

  image(image: string): void {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } };
    this.edit({ template });
  }

  stepDeployment(): void {
    const plan = decideDeployment(this.deployment, this.sets, now);
    for (const set of plan.create)
      this.sets.push({
        ...set,
        metadata: { ...set.metadata, uid: `uid-${set.metadata.name}`, generation: 1 },
      });
    this.sets = this.sets
      .filter((set) => !plan.remove.includes(set.metadata.name ?? ''))
      .map((set) => {
        const body = plan.patch.find(({ name }) => name === set.metadata.name)?.body as
          | { spec?: object; metadata?: { annotations: object } }
          | undefined;
        if (!body) return set;
        const generation = (set.metadata.generation ?? 0) + 1;
        const annotations = { ...set.metadata.annotations, ...body.metadata?.annotations };
        return {
          ...set,
          metadata: { ...set.metadata, generation, annotations },
          spec: { ...set.spec, ...body.spec },
        } as Workload;
      });
    this.deployment = { ...this.deployment, status: { ...this.deployment.status, ...plan.status } };
  }

  owned(set: Workload): Pod[] {
    return this.pods.filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === set.metadata.uid);
  }

  stepSet(index: number): void {
    const set = this.sets[index];
    if (!set) return;
    const plan = decideReplicaSet(set, this.owned(set), now);
    this.pods = this.pods.filter((pod) => !plan.remove.includes(pod.metadata.name ?? ''));
    this.pods.push(...plan.create.map((pod) => become(pod, { ready: false })));
    this.sets[index] = { ...set, status: plan.status };
  }

  stepPod(index: number): void {
    const pod = this.pods[index];
    if (pod && !isReady(pod)) this.pods[index] = become(pod);
  }

  serving(): number {
    return this.pods.filter(isReady).length;
  }

  /** What the Deployment asks its ReplicaSets for: as in Kubernetes, pods of a set that is late do not count. */
  asked(): number {
    return this.sets.reduce((sum, { spec }) => sum + ((spec as { replicas?: number }).replicas ?? 0), 0);
  }

  settle(rounds = 60): void {
    for (let i = 0; i < rounds; i++) {
      this.stepDeployment();
      for (const [n] of this.sets.entries()) this.stepSet(n);
      for (const [n] of this.pods.entries()) this.stepPod(n);
      for (const [n] of this.sets.entries()) this.stepSet(n);
    }
  }
}

const status = (world: World) => world.deployment.status as Record<string, unknown>;
const condition = (world: World, type: string) =>
  (status(world)['conditions'] as { type: string; status: string; reason: string }[]).find(
    (c) => c.type === type,
  );

describe('a Deployment', () => {
  test('starts, says that it is complete, and numbers its revision', () => {
    const world = new World({ replicas: 3 });
    world.settle();
    expect(status(world)).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
    });
    expect(condition(world, 'Progressing')?.reason).toBe('NewReplicaSetAvailable');
    expect(world.sets[0]?.metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '1' });
  });

  test('a rollback takes the old ReplicaSet and a new number', () => {
    const world = new World({ replicas: 2 });
    world.settle();
    world.image('web:2');
    world.settle();
    world.image('web:1');
    world.settle();
    expect(world.sets).toHaveLength(2);
    expect(world.sets.map((set) => set.metadata.annotations?.['deployment.kubernetes.io/revision'])).toEqual([
      '3',
      '2',
    ]);
    expect(world.sets.map((set) => set.spec?.replicas)).toEqual([2, 0]);
  });

  test('the order of a template’s fields starts no rollout', () => {
    const world = new World({ replicas: 1 });
    world.settle();
    const template = {
      spec: { containers: [{ image: 'web:1', name: 'web' }] },
      metadata: { labels: { app: 'web' } },
    };
    world.edit({ template });
    world.settle();
    expect(world.sets).toHaveLength(1);
  });

  test('Recreate waits for pods that are still stopping', () => {
    const world = new World({ replicas: 2, strategy: { type: 'Recreate' } });
    world.settle();
    world.image('web:2');
    world.stepDeployment();
    expect(world.sets.map((set) => set.spec?.replicas)).toEqual([0, 0]);
    const [old] = world.sets;
    if (!old) throw new Error('no old ReplicaSet');
    const status = { replicas: 0, observedGeneration: old.metadata.generation, terminatingReplicas: 1 };
    world.sets[0] = { ...old, status };
    world.stepDeployment();
    expect(world.sets.map((set) => set.spec?.replicas)).toEqual([0, 0]);
    world.sets[0] = { ...old, status: { ...status, terminatingReplicas: 0 } };
    world.stepDeployment();
    expect(world.sets.map((set) => set.spec?.replicas)).toEqual([0, 2]);
  });

  test('paused: a new template waits, scaling does not', () => {
    const world = new World({ replicas: 2 });
    world.settle();
    world.edit({ paused: true, replicas: 5 });
    world.image('web:2');
    world.settle();
    expect(world.sets.map((set) => set.spec?.replicas)).toEqual([5]);
    expect(condition(world, 'Progressing')?.reason).toBe('DeploymentPaused');
  });

  test('paused half way it keeps what it may surge by, as deployment_controller does', () => {
    const world = new World({ replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    world.settle();
    world.image('web:2');
    world.stepDeployment();
    expect(world.asked()).toBe(3);
    world.edit({ paused: true });
    world.settle();
    expect(world.asked()).toBe(3);
    expect(world.serving()).toBe(3);
    world.edit({ paused: false });
    world.settle();
    expect(world.sets.map((set) => set.spec?.replicas)).toEqual([0, 2]);
  });

  test('history beyond revisionHistoryLimit goes, oldest first', () => {
    const world = new World({ replicas: 1, revisionHistoryLimit: 1 });
    for (const image of ['web:1', 'web:2', 'web:3', 'web:4']) {
      world.image(image);
      world.settle();
    }
    expect(world.sets.map((set) => set.metadata.annotations?.['deployment.kubernetes.io/revision'])).toEqual([
      '3',
      '4',
    ]);
  });

  test('no progress for progressDeadlineSeconds is said', () => {
    const deployment = workload('Deployment', { replicas: 1, progressDeadlineSeconds: 10 });
    const first = decideDeployment(deployment, [], now);
    const later = decideDeployment({ ...deployment, status: first.status }, [], now + 11_000);
    const reasons = [first, later].map(
      ({ status }) => (status['conditions'] as { reason: string }[])[1]?.reason,
    );
    expect(reasons).toEqual(['ReplicaSetUpdated', 'ProgressDeadlineExceeded']);
    expect(first.afterMs).toBe(10_000);
  });

  test('one that is being deleted changes nothing', () => {
    const metadata = { deletionTimestamp: '2030-01-01T00:00:00Z' };
    const plan = decideDeployment(workload('Deployment', { replicas: 3 }, { metadata }), [], now);
    expect([plan.create, plan.patch, plan.remove]).toEqual([[], [], []]);
  });
});

const amount = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('0%', '25%', '50%', '100%'));
const move = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'deployment' as const }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('set' as const), n: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pod' as const), n: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('image' as const), n: fc.nat(3) }) },
);

describe('a rolling update under any interleaving', () => {
  test('never below desired - maxUnavailable, never above desired + maxSurge, and it ends', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        amount,
        amount,
        fc.array(move, { maxLength: 120, size: 'max' }),
        (replicas, maxSurge, maxUnavailable, moves) => {
          const world = new World({ replicas, strategy: { rollingUpdate: { maxSurge, maxUnavailable } } });
          world.settle();
          const { surge, unavailable } = bounds(world.deployment.spec, replicas);
          let images = 0;
          for (const step of moves) {
            if (step.do === 'deployment') world.stepDeployment();
            else if (step.do === 'set') world.stepSet(step.n);
            else if (step.do === 'pod') world.stepPod(step.n);
            // Never a former one: of its ReplicaSet, told to go and told to stay, a late status still counts what has gone, as on Kubernetes.
            else world.image(`web:${++images}.new`);
            expect(world.serving()).toBeGreaterThanOrEqual(replicas - unavailable);
            expect(world.asked()).toBeLessThanOrEqual(replicas + surge);
          }
          world.settle();
          expect(world.serving()).toBe(replicas);
          expect(world.pods).toHaveLength(replicas);
          expect(condition(world, 'Progressing')?.reason).toBe('NewReplicaSetAvailable');
        },
      ),
      { numRuns: 100 },
    );
  });

  test('scaling at any moment ends with what was asked for last', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(move, fc.record({ do: fc.constant('scale' as const), n: fc.nat(6) })), {
          maxLength: 60,
          size: 'max',
        }),
        (moves) => {
          const world = new World({ replicas: 2 });
          for (const step of moves) {
            if (step.do === 'deployment') world.stepDeployment();
            else if (step.do === 'set') world.stepSet(step.n);
            else if (step.do === 'pod') world.stepPod(step.n);
            else if (step.do === 'scale') world.edit({ replicas: step.n });
            else world.image(`web:${step.n}`);
          }
          world.settle();
          expect(world.pods).toHaveLength(world.deployment.spec?.replicas ?? 1);
        },
      ),
      { numRuns: 100 },
    );
  });
});
