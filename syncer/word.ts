import { silenceSince } from '../cluster/silence.ts';
import type { Condition, PhysicalCluster, PhysicalClusterStatus } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { Found } from './look.ts';

/** Whether all that is to be said stands there, but for when. */
export function isSame(before: PhysicalClusterStatus | undefined, now: PhysicalClusterStatus): boolean {
  const { conditions = [], lastHeartbeatTime: _beat, lastAnswerTime: _answer, ...rest } = now;
  const said = before?.conditions ?? [];
  return (
    conditions.every((one) => said.some((other) => deepEqual(one, other))) &&
    Object.entries(rest).every(([key, value]) =>
      deepEqual(value, before?.[key as keyof PhysicalClusterStatus]),
    )
  );
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;

export function verdictOf(cluster: PhysicalCluster, { error }: Found, refused: string | undefined): Verdict {
  if (error !== undefined)
    return {
      status: 'False',
      reason: 'Unreachable',
      message: `${silenceSince(cluster).words}: ${error}`,
    };
  if (refused !== undefined) return { status: 'False', reason: 'SameCluster', message: refused };
  return { status: 'True', reason: 'SyncerConnected', message: 'the cluster answers' };
}

export function conditionOf(
  { status: before }: PhysicalCluster,
  type: 'Ready' | 'Readable',
  verdict: Verdict,
  now: string,
): Condition {
  const old = before?.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = old?.status === verdict.status ? old.lastTransitionTime : now;
  return { type, ...verdict, lastTransitionTime };
}
