import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Tells by how many bytes what is held has grown since. */
export function heapGauge(): () => number {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  const held = () => {
    gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = held();
  return () => held() - before;
}

/** Byte by byte, as whoever wants may send them; `before` is called when only the last is left. */
export function* byteByByte(bytes: Buffer, before: () => void): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at++) {
    if (at === bytes.length - 1) before();
    yield bytes.subarray(at, at + 1);
  }
}
