import type { ClusterUse } from '../../cluster/limits.ts';
import type { Amounts } from './decide.ts';

/** What the processes of a server ask of the one that knows what all of them use. It crosses between them as JSON. */
export type Question =
  /** So many requests at most; a few ahead, so that not each of them has to ask. */
  | { ask: 'requests'; cluster: string; count: number }
  /** For a watch, until it ends. */
  | { ask: 'watch'; cluster: string }
  | { ask: 'unwatch'; ticket: number }
  /** Whether there is room, of which none is taken. */
  | { ask: 'room'; cluster: string; more: Amounts }
  | { ask: 'use'; clusters: string[] };

export interface Answer {
  /** Of requests: how many. */
  granted?: number;
  /** Of a watch. */
  ticket?: number;
  /** Why not, and in how many seconds to try again. */
  refused?: string;
  retryAfter?: number;
  /** In the order in which it was asked for. */
  use?: ClusterUse[];
}
