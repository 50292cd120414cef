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

/** Which of WriteOptions a write has. */
export const Has = { holding: 1, adds: 2 } as const;

export function readWriteOptions(frame: Cursor): WriteOptions | undefined {
  const has = frame.u8();
  if (has === 0) return undefined;
  const options: WriteOptions = {};
  if ((has & Has.holding) !== 0) options.holding = readFence(frame);
  if ((has & Has.adds) !== 0) options.adds = frame.f64();
  return options;
}

function readFence(frame: Cursor): Fence {
  const name = frame.string();
  return { name, token: frame.f64() };
}
