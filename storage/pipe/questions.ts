import type { Fence, Range, WriteOptions } from '../store.ts';
import type { Cursor } from './frames.ts';

export function readRange(frame: Cursor): Range {
  const start = frame.string();
  return { start, end: frame.string() };
}

/** NaN stands for none. */
export function readNumber(frame: Cursor): number | undefined {
  const number = frame.f64();
  return Number.isNaN(number) ? undefined : number;
}

export function readFence(frame: Cursor): WriteOptions | undefined {
  if (frame.u8() === 0) return undefined;
  const name = frame.string();
  const holding: Fence = { name, token: frame.f64() };
  return { holding };
}
