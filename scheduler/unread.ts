import { deepEqual } from '../kube/deep.ts';
import { getOwn } from '../kube/untyped.ts';
import type { Choice } from './judge.ts';
import { placementOf, type Scene } from './scene.ts';
import type { Decided } from './types.ts';

/** Why it leaves no cluster now, whatever is decided: not all that is said of its data is known. */
export function unreadOf({ input }: Scene, { object }: Decided['placed']): string | undefined {
  return input.unread?.get(object.metadata.uid ?? '');
}

/**
 * What was chosen, but for what would leave data behind: it stays where it was told to be, as it is divided there, and goes
 * nowhere else meanwhile; what goes along is there too where it is needed.
 */
export function unmoved(scene: Scene, placed: Decided['placed'], choice: Choice): Choice {
  const why = unreadOf(scene, placed);
  const spec = placementOf(scene, placed)?.spec;
  const before = spec?.clusters.filter((name) => scene.clusters.has(name)) ?? [];
  if (why === undefined || before.length === 0) return choice;
  const isAlong = placed.kind.role === 'closure';
  const clusters = isAlong ? [...new Set([...before, ...choice.clusters])].sort() : before;
  const leavesNone = clusters.join() === [...choice.clusters].sort().join();
  if (leavesNone && deepEqual(choice.givenUp, spec?.givenUp)) return choice;
  const isSame = (name: string) => clusters.includes(name) === choice.clusters.includes(name);
  const all = new Set([...Object.keys(choice.reasons), ...before, ...choice.clusters]);
  const reasons = [...all].map((name) => [name, isSame(name) ? getOwn(choice.reasons, name) : why] as const);
  const { wanted, open } = choice;
  return {
    clusters,
    reasons: Object.fromEntries(
      reasons.flatMap(([name, said]) => (said === undefined ? [] : [[name, said]])),
    ),
    blocked: true,
    ...(wanted && { wanted }),
    ...(open !== undefined && { open }),
    ...(spec?.spread && { spread: spec.spread }),
    ...(spec?.filled && { filled: spec.filled }),
    ...(spec?.noRoom && { noRoom: spec.noRoom }),
    ...(spec?.unplaced && { unplaced: spec.unplaced }),
    ...(spec?.givenUp && { givenUp: spec.givenUp }),
    ...(spec?.copiedFrom && { copiedFrom: spec.copiedFrom }),
  };
}
