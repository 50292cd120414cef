/** So much more than the value itself may stay in memory with it. */
const SLACK = 64;

/**
 * The value for somebody who keeps it: the same bytes where they have memory of their own, else a copy that has. A small
 * buffer is most often a piece of a pool, and a frame's of all that arrived with it: kept for minutes, it would keep
 * those too.
 */
export function owned(value: Uint8Array): Uint8Array {
  if (value.buffer.byteLength <= value.length + SLACK) return value;
  const copy = Buffer.allocUnsafeSlow(value.length);
  copy.set(value);
  return copy;
}
