import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn } from '../kube/untyped.ts';
import { lackAt } from './filter.ts';
import { asking, nothingUsed } from './usage.ts';
import { clusterNamed, type World } from './world.ts';

type Counts = Readonly<Record<string, number>>;

/** Where it is and is to be, and with how many replicas. */
interface Course {
  from: readonly string[];
  to: readonly string[];
  replicas: { from: Counts; to: Counts } | undefined;
}

/**
 * Where it stays and is to have more, and there is no room for that: nothing moves it for that, so its pods will wait. Of a
 * world in which it counts with what it has. Undefined: nowhere.
 */
export function lacksOf(
  root: KubeObject,
  { from, to, replicas }: Course,
  world: World,
): Record<string, string> | undefined {
  if (replicas === undefined || !deepEqual(from, to)) return undefined;
  const need = asking(root);
  const found = Object.entries(moreOf(replicas)).flatMap(([name, more]) => {
    const used = world.settled.total.get(name) ?? nothingUsed;
    const why = lackAt({ cluster: clusterNamed(world, name), need: need(more), used });
    return why === undefined ? [] : [[name, `for ${more} more it ${why}`]];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

function moreOf({ from, to }: { from: Counts; to: Counts }): Counts {
  const grown = Object.entries(to).map(([name, n]) => [name, n - (getOwn(from, name) ?? n)] as const);
  return Object.fromEntries(grown.filter(([, more]) => more > 0));
}
