const SLAB_BYTES = 16 << 10;
const LARGE = SLAB_BYTES / 4;

let slab = Buffer.alloc(0);
let used = 0;

/**
 * A copy for somebody who keeps it, apart from whatever is short-lived: Node's own pool would keep both together in
 * memory. Small ones share a slab, as each of their own would cost as much again.
 */
export function keptCopy(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  if (length >= LARGE) {
    const own = Buffer.allocUnsafeSlow(length);
    own.set(bytes);
    return own;
  }
  if (used + length > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    used = 0;
  }
  const copy = slab.subarray(used, used + length);
  copy.set(bytes);
  used += length;
  return copy;
}
