import { getOwn } from '../kube/untyped.ts';

/** Of what overflows: how many of its pods no cluster takes. */
export interface Unplaced {
  pods: number;
  /** How many pods it has in all. */
  of: number;
}

/** The same, where that is for want of room on the clusters where it may be. */
export interface NoRoom extends Unplaced {
  /** What these pods ask for together, as quantities. */
  requests?: Record<string, string>;
  /** Where they are all the same. Absent: for want of room nothing of it comes or goes. */
  on?: string[];
  /** A few of the clusters that take nothing of it for another reason than room: see the reasons beside it. */
  refused?: string[];
}

/** Of a PlacementSpec. */
export interface Lacking {
  noRoom?: NoRoom | undefined;
  unplaced?: Unplaced | undefined;
  clusters: readonly string[];
  reasons?: Readonly<Record<string, string>> | undefined;
  /** Present: an autoscaler says how many it has. */
  scale?: object | undefined;
}

/** Why something is nowhere of which no cluster has said anything. */
export const noCluster = 'there is no physical cluster';

/** As it is recorded where there is none; of what is deleted nothing is said either, but it has shares yet. */
export function lacksCluster({ clusters, reasons = {}, shares = {} }: Placed): boolean {
  return [clusters, Object.keys(reasons), Object.keys(shares)].every(({ length }) => length === 0);
}

interface Placed {
  clusters: readonly string[];
  reasons?: object | undefined;
  shares?: object | undefined;
}

export const roomComesBy = 'more nodes, a higher spec.capacity, one more cluster';

/** Of clusters, so that nobody has to read fifty of them. */
const mostNamed = 3;
/** Of each part of what is said that others have written. */
const longest = 400;

/** How much lacks room, what becomes of it meanwhile, and what to do; undefined: nothing lacks any. Of a bounded length. */
export function lackOfRoom({ noRoom, clusters, reasons = {}, scale }: Lacking): string | undefined {
  if (!noRoom) return undefined;
  const { pods, of, requests = {}, on, refused = [] } = noRoom;
  const isOne = pods === 1;
  const asked = Object.entries(requests).map(([resource, amount]) => `${resource} ${amount}`);
  const together = asked.length > 0 ? ` with ${cut(asked.join(', '))} in all` : '';
  // None is no number that helps, and an autoscaler would take another one back.
  const isOwn = pods < of && !scale;
  const fewer = isOwn ? ` or have ${pods} ${isOne ? 'replica' : 'replicas'} fewer` : '';
  const others = refused.flatMap((name) => {
    const why = getOwn(reasons, name);
    return why === undefined ? [] : [cut(`${name}: ${why}`)];
  });
  return [
    `${lackingPods(noRoom)}${meanwhile(on, clusters, isOne)}`,
    `make room for ${pods} ${isOne ? 'pod' : 'pods'}${together} (${roomComesBy})${fewer}; it goes on by itself then`,
    ...others.slice(0, mostNamed),
  ].join('; ');
}

/** How many pods no cluster takes although there may be room, and what speaks against each; undefined: none. Of a bounded length. */
export function unplacedPods({ unplaced, clusters, reasons = {} }: Lacking): string | undefined {
  if (!unplaced) return undefined;
  const whys = [...clusters, ...Object.keys(reasons).filter((name) => !clusters.includes(name))].flatMap(
    (name) => {
      const why = getOwn(reasons, name);
      return why === undefined ? [] : [cut(`${name}: ${why}`)];
    },
  );
  return [lackingPods(unplaced), ...whys.slice(0, mostNamed)].join('; ');
}

/** `2 of its 9 pods have room nowhere` */
export function lackingPods({ pods, of }: Unplaced): string {
  return `${pods} of its ${of} pods ${pods === 1 ? 'has' : 'have'} room nowhere`;
}

function meanwhile(on: readonly string[] | undefined, clusters: readonly string[], isOne: boolean): string {
  if (on) return ` and ${isOne ? 'is' : 'are'} on ${few(on)} all the same`;
  return clusters.length > 0 ? ' where it may go, so it stays where it is' : ', so none of it is placed';
}

function few(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return [...names.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest - 3)}...` : text;
}
