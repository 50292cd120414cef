/** Of what overflows: how much of it has room on none of the clusters where it may be. */
export interface NoRoom {
  pods: number;
  /** How many pods it has in all. */
  of: number;
  /** What these pods ask for together, as quantities. */
  requests?: Record<string, string>;
  /** Where they are all the same. Absent: for want of room nothing of it comes or goes. */
  on?: string[];
}

export const roomComesBy = 'more nodes, a higher spec.capacity, one more cluster';

/** How much lacks room, what becomes of it meanwhile, and what to do; undefined: nothing lacks any. */
export function lackOfRoom({
  noRoom,
  clusters,
}: {
  noRoom?: NoRoom | undefined;
  clusters: readonly string[];
}): string | undefined {
  if (!noRoom) return undefined;
  const { pods, requests = {}, on } = noRoom;
  const isOne = pods === 1;
  const asked = Object.entries(requests).map(([resource, amount]) => `${resource} ${amount}`);
  const among = asked.length > 0 ? ` for ${asked.join(', ')}` : '';
  return [
    `${lackingPods(noRoom)}${meanwhile(on, clusters, isOne)}`,
    `make room${among} (${roomComesBy}) or have ${pods} ${isOne ? 'replica' : 'replicas'} fewer; it goes on by itself then`,
  ].join('; ');
}

/** `2 of its 9 pods have room nowhere` */
export function lackingPods({ pods, of }: NoRoom): string {
  return `${pods} of its ${of} pods ${pods === 1 ? 'has' : 'have'} room nowhere`;
}

function meanwhile(on: readonly string[] | undefined, clusters: readonly string[], isOne: boolean): string {
  if (on) return ` and ${isOne ? 'is' : 'are'} on ${on.join(', ')} all the same`;
  return clusters.length > 0 ? ' where it may go, so it stays as it is' : ', so none of it is placed';
}
