/** A count, or a share of some total such as `25%`: maxSurge, maxUnavailable, minAvailable. */
export type IntOrString = number | string;

export class IntOrStringError extends Error {
  constructor(why: string) {
    super(`invalid value for IntOrString: ${why}`);
    this.name = 'IntOrStringError';
  }
}

/** Throws IntOrStringError for text that is no percentage. */
export function scaledIntOrPercent(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) throw new IntOrStringError('invalid type: string is not a percentage');
  const percent = value.slice(0, -1);
  if (!/^[+-]?\d+$/.test(percent)) {
    throw new IntOrStringError(
      `invalid value ${JSON.stringify(value)}: strconv.Atoi: parsing ${JSON.stringify(percent)}: invalid syntax`,
    );
  }
  const share = (Number(percent) * total) / 100;
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share);
}
