import type { Salvage } from './salvage.ts';

/**
 * What is not in a damaged store any more. A lost revision may have made, changed or deleted any key: the store
 * shows that key as it was before, or not at all.
 */
export interface Losses {
  /** Runs of revisions, first and last, of which no readable record is left. */
  readonly revisions: readonly (readonly [first: number, last: number])[];
  /** Set when nobody knows what was acknowledged last, as after a crash: revisions after this one may be lost. */
  readonly after?: number;
  /**
   * Set when the records of keys that did not change after history was last compacted (at or before `compacted`)
   * are not those that were there; which ones, cannot be told. `expected` is absent when that is lost, too.
   */
  readonly older?: {
    readonly compacted: number;
    readonly expected?: number;
    readonly found: number;
  };
}

/** `acknowledged`: a revision that was certainly there, or 0; `isEnd`: and nothing after it. */
export function lossesOf(found: Salvage, acknowledged: number, isEnd: boolean): Losses {
  const { base, baseIsWhole } = found;
  const sorted = [...found.revisions].sort((a, b) => a - b);
  const compacted = base?.compacted ?? 0;
  const newest = Math.max(sorted.at(-1) ?? 0, acknowledged);
  const revisions: [number, number][] = [];
  let last = compacted;
  for (const revision of sorted) {
    if (revision <= compacted) continue;
    if (revision > last + 1) revisions.push([last + 1, revision - 1]);
    last = revision;
  }
  if (newest > last) revisions.push([last + 1, newest]);
  const end = isEnd ? {} : { after: newest };
  if (baseIsWhole) return { revisions, ...end };
  const older = sorted.filter((revision) => revision <= compacted).length;
  return {
    revisions,
    ...end,
    older: { compacted, found: older, ...(base !== undefined && { expected: base.count }) },
  };
}

/** Sentences for people; none when nothing was lost. */
export function describeLosses({ revisions, after, older }: Losses): string[] {
  const lines = revisions.map(([first, last]) =>
    first === last ? `revision ${first} is lost` : `revisions ${first} to ${last} are lost`,
  );
  if (after !== undefined)
    lines.push(`revisions after ${after} may be lost: how many there were is not known`);
  if (older === undefined) return lines;
  const expected = older.expected === undefined ? 'an unknown number of' : String(older.expected);
  return [
    ...lines,
    `of ${expected} entries at or before revision ${older.compacted} there are ${older.found}; which are lost is not known`,
  ];
}
