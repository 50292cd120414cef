import { isDrained } from '../cluster/life.ts';
import type { Choice } from './judge.ts';
import type { Scene } from './scene.ts';
import { type Turns, togetherWords, waitingWords } from './turns.ts';

/**
 * What a drain would have leave stays where that is not its turn; whatever else drives it away, or away from there, counts
 * all the same. Of several clusters it leaves all or none: it would come in full to one that is drained itself.
 */
export function chooseInTurn(
  chosen: (waits: ReadonlySet<string>) => Choice,
  // `turn` is given what it leaves by this.
  from: { scene: Scene; turns: Turns; leaves: readonly string[]; turn: string[]; group: string | undefined },
): Choice {
  const { scene, turns, leaves, turn, group } = from;
  const first = chosen(new Set());
  const left = leaves.filter((c) => !first.clusters.includes(c));
  const drained = left.filter((c) => isDrained(scene.clusters.get(c)));
  const late = drained.filter((c) => turns.mustWait(c, group));
  const kept = late.length > 0 ? chosen(new Set(drained)) : first;
  // Who leaves where it would have to wait all the same has nothing to wait for.
  const choice = late.some((c) => kept.clusters.includes(c)) ? kept : first;
  for (const c of leaves.filter((one) => !choice.clusters.includes(one))) {
    turns.take(c, group);
    turn.push(c);
  }
  const waits = drained.filter((c) => choice.clusters.includes(c));
  if (waits.length === 0) return choice;
  const most = (c: string) => scene.clusters.get(c)?.spec?.drainConcurrent;
  const words = waits.map(
    (c) => [c, late.includes(c) ? waitingWords(most(c)) : togetherWords(late)] as const,
  );
  return { ...choice, waits, reasons: { ...choice.reasons, ...Object.fromEntries(words) } };
}
