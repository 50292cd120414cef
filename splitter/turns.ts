/** One cluster of those that are updated in turns, as far as is known. */
export interface Standing {
  cluster: string;
  /** It was told that it may go on. */
  hasTurn: boolean;
  /** It was told to wait, and its controller has seen that. */
  waits: boolean;
  /** It waits, and was told so too late: it has begun. */
  isHalfWay: boolean;
  /** Nothing has been heard of it for longer than its grace. */
  isSilent: boolean;
  /** All its pods are of the present template, and available. */
  isDone: boolean;
  /** It is known to have pods of another template. */
  isBehind: boolean;
  /** It may go on, and its cluster takes nothing of that. */
  isRefusing: boolean;
  /** It may go on, and its cluster has not said yet that it has heard so. */
  isUnheard: boolean;
}

/**
 * Who may update now: `most` clusters at a time. A turn passes when its cluster is done, others are behind, and
 * it was heard to wait; so there are never more than `most` that may be on their way, whatever comes late. So it does from who
 * refuses what is applied. Nobody loses a turn before it has been heard to have it: what it said when it last waited would count
 * as if it had stopped again. Who is silent
 * neither keeps a turn nor gets one: it is told to wait before it is told of a new template. Of those who are
 * behind the first of `standings` goes first. `isOrdered`: when all are done the first gets the turn back for the next
 * update.
 */
export function turnsOf(
  standings: readonly Standing[],
  most: number,
  { isOrdered = false }: { isOrdered?: boolean } = {},
): ReadonlySet<string> {
  const heard = standings.filter(({ isSilent }) => !isSilent);
  const having = heard.filter(({ hasTurn }) => hasTurn);
  const mayPass = ({ isDone, isRefusing, isUnheard }: Standing) => (isDone || isRefusing) && !isUnheard;
  const kept = [...having.filter((s) => !mayPass(s)), ...having.filter(mayPass)];
  const holders = new Set(kept.filter((s, i) => i < most || s.isUnheard));
  const isFree = (s: Standing) => {
    const under = (o: Standing) => holders.has(o) || !o.waits || (o.isHalfWay && !s.isHalfWay);
    return heard.filter((o) => o !== s && under(o)).length < most;
  };
  let passing = heard.filter((s) => !s.waits && !holders.has(s)).length;
  for (const s of wanting(heard, isOrdered)) {
    if (holders.has(s)) continue;
    if (isFree(s)) {
      holders.add(s);
      continue;
    }
    const passes = [...holders].findLast(mayPass);
    if (passing > 0) passing--;
    else if (passes) holders.delete(passes);
  }
  for (const s of heard) if (s.waits && isFree(s)) holders.add(s);
  return namesOf(holders);
}

/** Those that are half way go on before others begin. */
function wanting(heard: readonly Standing[], isOrdered: boolean): readonly Standing[] {
  if (isOrdered && heard.every(({ isDone }) => isDone)) return heard.slice(0, 1);
  const waiting = heard.filter(({ hasTurn }) => !hasTurn);
  const begun = waiting.filter(({ isHalfWay }) => isHalfWay);
  return [...begun, ...waiting.filter(({ isHalfWay, isBehind }) => isBehind && !isHalfWay)];
}

function namesOf(standings: Iterable<Standing>): ReadonlySet<string> {
  return new Set([...standings].map(({ cluster }) => cluster));
}
