import { formerKubeconfig } from '../cluster/life.ts';
import { readability, type Unread } from '../cluster/readable.ts';
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

/** What is known of a cluster without a question. */
export type Watched = Pick<
  PhysicalClusterStatus,
  'namespaces' | 'allocatable' | 'nodeLabels' | 'silentAfterSeconds'
>;

interface Heard {
  /** When it was asked, in milliseconds since 1970. */
  began: number;
  lastAnswerTime: string | undefined;
  /** Why it may not be taken under its name. */
  refused: string | undefined;
  /** Why its kubeconfig of now does not work; it was asked by the one of before. */
  former: string | undefined;
  unread: Record<Unread, string[]>;
  watched: Watched;
}

/** What is to be said of a cluster, of which was known what `before` says, that was just asked. */
export function statusOf(before: PhysicalCluster, found: Found, heard: Heard): PhysicalClusterStatus {
  const { began, lastAnswerTime, unread } = heard;
  const now = new Date(began).toISOString();
  const { namespaces, ...watched } = heard.watched;
  const status = { ...before.status, ...(lastAnswerTime !== undefined && { lastAnswerTime }) };
  const answered = { ...before, status };
  const ready = conditionOf(answered, 'Ready', verdictOf(answered, found, heard), now);
  const { Unanswered, ...others } = unread;
  // Of one that answers nothing at all Ready says it.
  const readable = readability(found.error === undefined ? { ...others, Unanswered } : others);
  return {
    conditions: [ready, conditionOf(answered, 'Readable', readable, now)],
    lastHeartbeatTime: now,
    ...(lastAnswerTime !== undefined && { lastAnswerTime }),
    // What was not heard now is left as it is: somebody may have taken it back meanwhile.
    ...(found.clusterUID && { clusterUID: found.clusterUID }),
    ...(found.version && { version: found.version }),
    ...(found.error === undefined && namespaces !== undefined && { namespaces }),
    ...watched,
  };
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;

function verdictOf(cluster: PhysicalCluster, { error }: Found, { refused, former }: Heard): Verdict {
  if (error !== undefined)
    return {
      status: 'False',
      reason: 'Unreachable',
      message: `${silenceSince(cluster).words}: ${error}`,
    };
  if (refused !== undefined) return { status: 'False', reason: 'SameCluster', message: refused };
  if (former !== undefined)
    return {
      status: 'True',
      reason: formerKubeconfig,
      message: `the cluster answers by its kubeconfig of before; that of now does not work: ${former}`,
    };
  return { status: 'True', reason: 'SyncerConnected', message: 'the cluster answers' };
}

function conditionOf(
  { status: before }: PhysicalCluster,
  type: 'Ready' | 'Readable',
  verdict: Verdict,
  now: string,
): Condition {
  const old = before?.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = old?.status === verdict.status ? old.lastTransitionTime : now;
  return { type, ...verdict, lastTransitionTime };
}
