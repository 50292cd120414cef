import { StoreError } from './store.ts';

/** Well above what the API accepts in a request; a guard against a caller's mistake. */
export const MAX_VALUE_BYTES = 8 << 20;
export const MAX_KEY_LENGTH = 4096;

const PRINTABLE = /^[\x20-\x7e]+$/;

/** Throws `too-large`, or a TypeError for a key that no backend may ever see. */
export function checkWrite(key: string, value: Uint8Array): void {
  if (!PRINTABLE.test(key)) throw new TypeError(`a key must be printable ASCII: ${JSON.stringify(key)}`);
  if (key.length > MAX_KEY_LENGTH) {
    throw new StoreError('too-large', `the key is longer than ${MAX_KEY_LENGTH} bytes`, { key });
  }
  if (value.length > MAX_VALUE_BYTES) {
    const message = `the value of ${key} has ${value.length} bytes; the limit is ${MAX_VALUE_BYTES}`;
    throw new StoreError('too-large', message, { key });
  }
}
