import { scaledIntOrPercent } from '../../kube/intorstring.ts';
import type { Plan, PodTemplate, Workload, WorkloadSpec } from '../types.ts';
import { controllerRef, templateHash, withTransitions } from './children.ts';

const revisionKey = 'deployment.kubernetes.io/revision';
const hashKey = 'pod-template-hash';

export interface DeploymentSpec extends WorkloadSpec {
  paused?: boolean;
  strategy?: {
    type?: string;
    rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
  };
}

/**
 * Rolls from the old ReplicaSets to the one whose template is the Deployment's, within maxSurge and maxUnavailable.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
 */
export function decideDeployment(
  deployment: Workload<DeploymentSpec>,
  sets: readonly Workload[],
  now: number,
): Plan<Workload> {
  const template = deployment.spec?.template ?? { spec: { containers: [] } };
  const hash = templateHash(template);
  const current = sets.find((set) => set.metadata.labels?.[hashKey] === hash);
  const old = sets.filter((set) => set !== current);
  const plan: Plan<Workload> = { create: [], remove: [], scale: [], status: {} };
  const revision = revisionOf(current, old);
  if (deployment.metadata.deletionTimestamp === undefined) {
    const goal = rollout(deployment, current, old);
    if (!current) plan.create.push(replicaSet(deployment, template, hash, revision, goal.current));
    else if (replicas(current) !== goal.current)
      plan.scale.push({ name: name(current), replicas: goal.current });
    for (const [set, to] of goal.old)
      if (replicas(set) !== to) plan.scale.push({ name: name(set), replicas: to });
    if (deployment.metadata.annotations?.[revisionKey] !== revision)
      plan.annotate = { [revisionKey]: revision };
  }
  plan.status = statusOf(deployment, current, sets, new Date(now).toISOString().replace(/\.\d+Z/, 'Z'));
  return plan;
}

interface Goal {
  current: number;
  old: Map<Workload, number>;
}

function rollout(deployment: Workload<DeploymentSpec>, current: Workload | undefined, old: Workload[]): Goal {
  const desired = deployment.spec?.replicas ?? 1;
  const have = current ? replicas(current) : 0;
  const oldTotal = sum(old.map(replicas));
  if (deployment.spec?.paused) return { current: old.length === 0 ? desired : have, old: new Map() };
  if (deployment.spec?.strategy?.type === 'Recreate') {
    const gone = sum(old.map((set) => Number(set.status?.['replicas'] ?? 0))) === 0;
    return { current: gone ? desired : have, old: new Map(old.map((set) => [set, 0])) };
  }
  const { surge, unavailable } = bounds(deployment.spec, desired);
  const room = Math.max(0, desired + surge - have - oldTotal);
  const next = have >= desired ? desired : Math.min(desired, have + room);
  const available = sum(
    [...(current ? [current] : []), ...old].map((set) => Number(set.status?.['availableReplicas'] ?? 0)),
  );
  return { current: next, old: shrink(old, available, desired - unavailable) };
}

/** Replicas that do not serve go first and freely; those that serve only above the floor. */
function shrink(old: readonly Workload[], available: number, floor: number): Map<Workload, number> {
  let spare = Math.max(0, available - floor);
  const goal = new Map<Workload, number>();
  for (const set of old) {
    const serving = Math.min(replicas(set), Number(set.status?.['availableReplicas'] ?? 0));
    const drop = Math.min(serving, spare);
    spare -= drop;
    goal.set(set, serving - drop);
  }
  return goal;
}

export function bounds(
  spec: DeploymentSpec | undefined,
  desired: number,
): { surge: number; unavailable: number } {
  const rolling = spec?.strategy?.rollingUpdate;
  const surge = scaledIntOrPercent(rolling?.maxSurge ?? '25%', desired, 'up');
  const unavailable = scaledIntOrPercent(rolling?.maxUnavailable ?? '25%', desired, 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

function revisionOf(current: Workload | undefined, old: readonly Workload[]): string {
  const number = (set: Workload) => Number(set.metadata.annotations?.[revisionKey] ?? 0);
  const newest = Math.max(0, ...old.map(number));
  return String(current && number(current) > newest ? number(current) : newest + 1);
}

function replicaSet(
  owner: Workload,
  template: PodTemplate,
  hash: string,
  revision: string,
  count: number,
): Workload {
  const labels = { ...template.metadata?.labels, [hashKey]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      ...(owner.metadata.namespace && { namespace: owner.metadata.namespace }),
      labels,
      annotations: { [revisionKey]: revision },
      ownerReferences: [controllerRef(owner)],
    },
    spec: {
      replicas: count,
      selector: {
        ...owner.spec?.selector,
        matchLabels: { ...owner.spec?.selector?.matchLabels, [hashKey]: hash },
      },
      template: { ...template, metadata: { ...template.metadata, labels } },
      ...(owner.spec?.minReadySeconds && { minReadySeconds: owner.spec.minReadySeconds }),
    },
  };
}

function statusOf(
  deployment: Workload<DeploymentSpec>,
  current: Workload | undefined,
  sets: readonly Workload[],
  now: string,
) {
  const total = (field: string) => sum(sets.map((set) => Number(set.status?.[field] ?? 0)));
  const desired = deployment.spec?.replicas ?? 1;
  const [all, available] = [total('replicas'), total('availableReplicas')];
  const updated = Number(current?.status?.['replicas'] ?? 0);
  const enough = available >= desired - bounds(deployment.spec, desired).unavailable;
  const complete = updated === desired && all === desired && available >= desired;
  const conditions = [
    {
      type: 'Available',
      status: enough ? 'True' : 'False',
      reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: enough ? 'Enough replicas are available.' : 'Too few replicas are available.',
    },
    {
      type: 'Progressing',
      status: 'True',
      reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
      message: complete ? 'The rollout is complete.' : 'The rollout is going on.',
    },
  ];
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: all,
    updatedReplicas: updated,
    readyReplicas: total('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, desired - available),
    conditions: withTransitions(conditions, deployment.status?.['conditions'], now),
  };
}

function replicas(set: Workload): number {
  return set.spec?.replicas ?? 1;
}

function name(set: Workload): string {
  return set.metadata.name ?? '';
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
