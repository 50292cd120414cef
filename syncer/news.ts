import type { ShareView } from '../cluster/types.ts';

/** By then whoever made it may wait for what is said of it. */
const newMs = 60_000;

/**
 * Whether what comes to a cluster has just been made, by the age of its Placement: what moves here has not, and its old copy stays until this one
 * is told of. One that does not say when it was made has not, either.
 */
export function isNews({ metadata }: ShareView, now = Date.now()): boolean {
  const { creationTimestamp } = metadata;
  return now - Date.parse(creationTimestamp ?? '') < newMs;
}
