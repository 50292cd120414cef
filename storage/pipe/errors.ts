import { StoreError, type StoreErrorCode } from '../store.ts';
import { BadFrame, type Cursor } from './frames.ts';
import type { Out } from './out.ts';

const CODES: readonly StoreErrorCode[] = [
  ...(['exists', 'missing', 'conflict', 'fenced', 'compacted', 'future'] as const),
  ...(['closed', 'full', 'corrupt', 'unavailable', 'too-large', 'limited'] as const),
];
/** In place of a code: some other error, of which only the message crosses. */
const OTHER = 255;

const KEY = 1;
const CURRENT = 2;

export function writeError(out: Out, error: unknown): void {
  if (!(error instanceof StoreError)) {
    out.u8(OTHER);
    out.string(error instanceof Error ? error.message : String(error));
    return;
  }
  const { code, message, key, current } = error;
  out.u8(CODES.indexOf(code));
  out.string(message);
  out.u8((key === undefined ? 0 : KEY) | (current === undefined ? 0 : CURRENT));
  if (key !== undefined) out.string(key);
  if (current !== undefined) out.entry(current);
}

export function readError(frame: Cursor): Error {
  const index = frame.u8();
  const message = frame.string();
  if (index === OTHER) return new Error(message);
  const code = CODES[index];
  if (code === undefined) throw new BadFrame(`error ${index}`);
  const has = frame.u8();
  return new StoreError(code, message, {
    ...((has & KEY) !== 0 && { key: frame.string() }),
    ...((has & CURRENT) !== 0 && { current: frame.entry() }),
  });
}

/** A watch only ends with what Store knows. */
export function asStoreError(error: Error): StoreError {
  return error instanceof StoreError ? error : new StoreError('unavailable', error.message, { cause: error });
}
