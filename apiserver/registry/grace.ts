import type { KubeObject } from '../../kube/object.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import type { ServedResource } from '../served.ts';

/**
 * How long a deletion gives the object, in seconds, as admission sees it; undefined: nobody says. Only Pods that a node
 * runs are given time, and what one deletion has given another that does not say leaves as it is.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
 */
export function graceOf(
  object: KubeObject,
  served: ServedResource,
  asked: number | undefined,
): number | undefined {
  const given = asked !== undefined && asked < 0 ? 1 : asked;
  if (!strategyFor(served.info).graceful) return given;
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  if (deletionTimestamp !== undefined) return given ?? deletionGracePeriodSeconds;
  const spec = (object.spec ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number | bigint };
  const { phase } = (object.status ?? {}) as { phase?: string };
  if (!spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0;
  const seconds = given ?? wholeSeconds(spec.terminationGracePeriodSeconds ?? 30);
  return seconds < 0 ? 1 : seconds;
}

/** Of an int64, as near as a number comes to it that is told exactly. */
export function wholeSeconds(value: number | bigint): number {
  return Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** Go's longest Duration: beyond it there are no times. */
const longest = 2 ** 63 / 1e9;

/** When that is over: a period that is made shorter counts from when the first deletion came. */
export function endOf({ metadata }: KubeObject, grace: number, now: Date): Date {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  const since =
    deletionTimestamp === undefined
      ? now.getTime()
      : Date.parse(deletionTimestamp) - millis(deletionGracePeriodSeconds);
  return new Date(since + millis(grace));
}

function millis(seconds: number): number {
  return Math.min(seconds, longest) * 1000;
}
