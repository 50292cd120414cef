/**
 * What is said to be so of an object, of our kinds and of Kubernetes'. Times are RFC 3339.
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties
 */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** Of `Placed`: what it is about has run to its end, has left every cluster, and comes to none. */
export const endedReason = 'Ended';
