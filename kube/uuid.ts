import { randomFillSync } from 'node:crypto';

const atOnce = 256;
const random = Buffer.alloc(16 * atOnce);
let used = atOnce;

const digits = Buffer.from('0123456789abcdef');
const text = Buffer.alloc(36, '-');
/** Where in the text each of the 16 bytes goes. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/**
 * A random UUID (RFC 9562, version 4). As node:crypto's, but one flat string: that one is put together from twenty, and
 * objects keep theirs for as long as they live.
 */
export function randomUid(): string {
  if (used === atOnce) {
    randomFillSync(random);
    used = 0;
  }
  const start = 16 * used++;
  for (let i = 0; i < 16; i++) {
    let byte = random[start + i] ?? 0;
    if (i === 6) byte = (byte & 0x0f) | 0x40;
    else if (i === 8) byte = (byte & 0x3f) | 0x80;
    const at = places[i] ?? 0;
    text[at] = digits[byte >> 4] ?? 0;
    text[at + 1] = digits[byte & 0x0f] ?? 0;
  }
  return text.toString('latin1');
}
