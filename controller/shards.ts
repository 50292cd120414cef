import { hashOf } from './rendezvous.ts';

/**
 * Into so many parts all logical clusters are divided, for what each of them needs by itself. Of more parts each server would have
 * more nearly its share, and each costs a lease and a set of controllers. All servers on a store have the same number.
 */
export const shardCount = 8;

/** The part that a logical cluster is in: each server gives the same answer. */
export function shardOf(cluster: string): number {
  return hashOf(cluster) % shardCount;
}
