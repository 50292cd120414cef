const SLAB = 32 << 10;

/**
 * Copies small values next to each other: a buffer of its own costs a value some 200 bytes. A slab is freed with the
 * last of its values, so this is for values that are read in once and may stay, not for those that come and go.
 */
export function packer(): (value: Uint8Array) => Uint8Array {
  let slab = Buffer.alloc(0);
  let used = 0;
  return (value) => {
    if (value.length > SLAB / 4) return value;
    if (used + value.length > slab.length) {
      slab = Buffer.allocUnsafeSlow(SLAB);
      used = 0;
    }
    const packed = slab.subarray(used, used + value.length);
    packed.set(value);
    used += value.length;
    return packed;
  };
}
