/** A size or a cost: at least and at most. Beyond 2^64 everything is alike, as in Go's saturated uint64. */
export interface Range {
  min: number;
  max: number;
}

export const most = 2 ** 64;
export const unknown: Range = { min: 0, max: most };
export const none: Range = { min: 0, max: 0 };

const capped = (value: number) => Math.min(value, most);

export const exactly = (value: number): Range => ({ min: value, max: value });

export function plus(...ranges: Range[]): Range {
  return ranges.reduce((a, b) => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) }), none);
}

export function times(a: Range, b: Range): Range {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

/** Times a factor, rounded up. */
export function scaled({ min, max }: Range, factor: number): Range {
  return { min: capped(Math.ceil(min * factor)), max: capped(Math.ceil(max * factor)) };
}

export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}
