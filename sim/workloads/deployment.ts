import type { Plan, Workload } from '../types.ts';
import { templateHash } from './children.ts';
import { deploymentStatus } from './deployment-status.ts';
import { hashKey, name, newReplicaSet, numberOf, passedOn, revisionKey, revisionOf } from './replicasets.ts';
import { type DeploymentSpec, replicas, rollout } from './rollout.ts';

/** Of Kubernetes, when spec.revisionHistoryLimit says nothing. */
const defaultHistory = 10;

/**
 * Rolls from the old ReplicaSets to the one whose template is the Deployment's, within maxSurge and maxUnavailable.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
 */
export function decideDeployment(
  deployment: Workload<DeploymentSpec>,
  sets: readonly Workload[],
  now: number,
): Plan<Workload> {
  const hash = templateHash(deployment.spec?.template ?? { spec: { containers: [] } });
  const current = sets.find((set) => set.metadata.labels?.[hashKey] === hash);
  const old = sets.filter((set) => set !== current);
  const { status, afterMs } = deploymentStatus(deployment, current, sets, now);
  const plan: Plan<Workload> = { create: [], remove: [], patch: [], status };
  if (afterMs !== undefined) plan.afterMs = afterMs;
  if (deployment.metadata.deletionTimestamp !== undefined) return plan;
  const goal = rollout(deployment, current, old);
  const paused = deployment.spec?.paused === true;
  const revision = revisionOf(current, old);
  if (!current && !paused) plan.create.push(newReplicaSet(deployment, hash, revision, goal.current));
  if (current) {
    const body = changes(deployment, current, goal.current, revision, paused);
    if (body) plan.patch.push({ name: name(current), body });
  }
  for (const [set, to] of goal.old)
    if (replicas(set) !== to) plan.patch.push({ name: name(set), body: { spec: { replicas: to } } });
  if (paused) return plan;
  plan.remove = expired(old, deployment.spec?.revisionHistoryLimit ?? defaultHistory);
  if (deployment.metadata.annotations?.[revisionKey] !== revision)
    plan.annotate = { [revisionKey]: revision };
  return plan;
}

function changes(
  deployment: Workload,
  current: Workload,
  to: number,
  revision: string,
  paused: boolean,
): object | undefined {
  const minReady = deployment.spec?.minReadySeconds ?? 0;
  const spec = {
    ...(replicas(current) !== to && { replicas: to }),
    ...(!paused && (current.spec?.minReadySeconds ?? 0) !== minReady && { minReadySeconds: minReady }),
  };
  const said = current.metadata.annotations ?? {};
  const wanted = paused ? {} : { ...passedOn(deployment), [revisionKey]: revision };
  const annotations = Object.fromEntries(Object.entries(wanted).filter(([key, text]) => said[key] !== text));
  const [isSized, isSaid] = [spec, annotations].map((one) => Object.keys(one).length > 0);
  if (!isSized && !isSaid) return undefined;
  return { ...(isSized && { spec }), ...(isSaid && { metadata: { annotations } }) };
}

/** The oldest empty ReplicaSets beyond the limit: no rollback will ask for them. */
function expired(old: readonly Workload[], limit: number): string[] {
  const empty = old
    .filter((set) => replicas(set) === 0 && Number(set.status?.['replicas'] ?? 0) === 0)
    .filter((set) => set.metadata.deletionTimestamp === undefined)
    .sort((a, b) => numberOf(a) - numberOf(b));
  return empty.slice(0, Math.max(0, empty.length - limit)).map(name);
}
