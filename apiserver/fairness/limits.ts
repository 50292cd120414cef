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
 * Whether a level may use so many seats more: its own always, others' as far as they lend them and do not use them
 * themselves. Who lent is never made to wait for whoever borrowed, so that for a while more seats are in use than there
 * are; by no more than are lendable.
 */
export function mayTake(level: Using, seats: number, all: Iterable<Using>): boolean {
  const { limits, inUse } = level;
  const wanted = inUse + seats;
  if (wanted <= limits.nominal || inUse === 0) return true;
  if (wanted > limits.most) return false;
  let borrowed = wanted - limits.nominal;
  let spare = 0;
  for (const other of all) {
    if (other === level) continue;
    const { nominal, least } = other.limits;
    borrowed += Math.max(0, other.inUse - nominal);
    spare += Math.min(nominal - least, Math.max(0, nominal - other.inUse));
  }
  return borrowed <= spare;
}
