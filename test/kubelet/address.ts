/**
 * The address that pod `n` of cluster `cluster` has as podIP. Not its own one on this machine: kube-apiserver takes no
 * loopback address into an EndpointSlice.
 */
export function podAddress(cluster: number, n: number): string {
  return `10.${128 + cluster}.${n >> 8}.${n & 255}`;
}

/** Where such a pod listens on this machine, as a network would lead to it. */
export function loopbackOf(podIP: string): string {
  return podIP.replace(/^10\./, '127.');
}
