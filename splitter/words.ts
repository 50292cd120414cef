import { placedKind } from '../cluster/kinds.ts';
import type { Placement } from '../cluster/types.ts';
import type { Word } from '../controller/events.ts';
import type { Shares } from './plan.ts';

/** What a step of the hand-over has to tell the workload's user: who joins, and that it is over. Pure. */
export function wordsOf(placement: Placement, shares: Shares): Word[] {
  const { spec } = placement;
  if (!spec || placedKind(spec.ref)?.role !== 'workload') return [];
  const before = spec.shares ?? {};
  const joining = names(shares).filter(
    (name) => shares[name]?.phase === 'Joining' && before[name]?.phase !== 'Joining',
  );
  const words = joining.map((name): Word => {
    const { replicas, settled } = shares[name] ?? {};
    const count = replicas === undefined ? '' : ` ${settled?.replicas ?? 0}/${replicas}`;
    return { type: 'Normal', reason: 'Joining', message: `${name}${count}${meanwhile(shares, name)}` };
  });
  const left = names(before).filter((name) => !Object.hasOwn(shares, name));
  const here = names(shares).filter((name) => shares[name]?.phase !== 'Leaving');
  if (left.length > 0 && here.length > 0)
    words.push({
      type: 'Normal',
      reason: 'Moved',
      message: `${left.join(', ')} left; it is on ${here.join(', ')}`,
    });
  return words;
}

/** Where it runs until the newcomer is ready. */
function meanwhile(shares: Shares, newcomer: string): string {
  const others = names(shares).filter((name) => name !== newcomer && shares[name]?.phase !== 'Joining');
  return others.length > 0 ? `; until it is ready, ${others.join(', ')} stays as it is` : '';
}

function names(shares: Shares): string[] {
  return Object.keys(shares).sort();
}
