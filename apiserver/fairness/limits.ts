import type { LevelSpec } from './configuration.ts';

/** The seats that a priority level has of so many in all. */
export interface LevelLimits {
  readonly nominal: number;
  /** Nobody borrows these. */
  readonly least: number;
  /** It borrows no more than up to here. */
  readonly most: number;
  /** Of one request. */
  readonly widest: number;
}

/** Level by level; rounded up, so that each that has a share has a seat. */
export function limitsOf(specs: readonly LevelSpec[], total: number): LevelLimits[] {
  const shares = specs.reduce((sum, spec) => sum + spec.shares, 0);
  return specs.map((spec) => {
    const nominal = shares === 0 ? 0 : Math.ceil((total * spec.shares) / shares);
    const lendable = Math.round((nominal * spec.lendablePercent) / 100);
    const { borrowingPercent, queuing } = spec;
    const borrowed = borrowingPercent === undefined ? total : Math.round((nominal * borrowingPercent) / 100);
    const narrow = queuing === undefined ? Infinity : Math.floor(nominal / queuing.handSize);
    return {
      nominal,
      least: nominal - lendable,
      most: nominal + borrowed,
      widest: Math.max(1, Math.min(10, Math.ceil(nominal * 0.15), narrow)),
    };
  });
}

/** A priority level as it is now. */
export interface Using {
  readonly limits: LevelLimits;
  /** Seats. */
  readonly inUse: number;
}

/**
 * How many seats more a level may use: its own always, others' as far as they lend them and do not use them
 * themselves. Who lent is never made to wait for whoever borrowed, so that for a while more seats are in use than there
 * are; by no more than are lendable.
 */
export function roomOf(level: Using, all: Iterable<Using>): number {
  const { limits, inUse } = level;
  let lent = Math.max(0, inUse - limits.nominal);
  let spare = 0;
  for (const other of all) {
    if (other === level) continue;
    const { nominal, least } = other.limits;
    lent += Math.max(0, other.inUse - nominal);
    spare += Math.min(nominal - least, Math.max(0, nominal - other.inUse));
  }
  const own = Math.max(0, limits.nominal - inUse);
  const most = limits.most - Math.max(inUse, limits.nominal);
  return own + Math.max(0, Math.min(most, spare - lent));
}

/**
 * Whether somebody who holds `held` of a level's seats may take so many more while there is `room`. A logical cluster
 * leaves as many as it has, so that there is one for the next, however long its requests last: alone it has half of them,
 * two of them two thirds. (A dynamic threshold: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998.)
 */
export function mayHold(held: number, seats: number, room: number): boolean {
  return held === 0 || held + seats <= room;
}
