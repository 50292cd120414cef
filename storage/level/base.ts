import { crc32 } from 'node:zlib';
import type { StoreEvent } from '../store.ts';

/**
 * What is known of the records at or below the compacted revision. Their revisions have gaps, so a lost one
 * would not show: their number and a sum over their revisions are kept and compared on open.
 */
export interface Base {
  readonly compacted: number;
  readonly count: number;
  /** The sum of `mix(revision)`, modulo 2^32. */
  readonly sum: number;
  /** What was durable when the base was written: a store that ends earlier has lost something. */
  readonly newest?: number;
}

export const EMPTY_BASE: Base = { compacted: 0, count: 0, sum: 0 };

/** Where the base is in the database. */
export const BASE_KEY = 'm:base';

/** The base after `events`, the oldest ones of the history, were forgotten by a store that is at `newest`. */
export function advance(base: Base, events: readonly StoreEvent[], newest: number): Base {
  let { compacted, count, sum } = base;
  for (const { type, entry, previous } of events) {
    compacted = entry.revision;
    if (previous !== undefined) {
      count--;
      sum -= mix(previous.revision);
    }
    if (type === 'put') {
      count++;
      sum += mix(entry.revision);
    }
    sum >>>= 0;
  }
  return { compacted, count, sum, newest };
}

/** The records that nobody needs once `events` were forgotten: what they replaced, and deletions. */
export function superseded(events: readonly StoreEvent[]): number[] {
  const revisions: number[] = [];
  for (const { type, entry, previous } of events) {
    if (previous !== undefined) revisions.push(previous.revision);
    if (type === 'delete') revisions.push(entry.revision);
  }
  return revisions;
}

export function baseOf(compacted: number, revisions: Iterable<number>): Base {
  let count = 0;
  let sum = 0;
  for (const revision of revisions) {
    count++;
    sum = (sum + mix(revision)) >>> 0;
  }
  return { compacted, count, sum };
}

/** Spreads a revision over 32 bits, so that losing some and gaining others does not cancel out. */
function mix(revision: number): number {
  let bits = (revision ^ Math.imul(Math.floor(revision / 2 ** 32), 0x9e3779b1)) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

export function encodeBase(base: Base): Buffer {
  const text = JSON.stringify(base);
  return Buffer.from(`${text}\n${crc32(text)}`);
}

/** `undefined` when the bytes are not what was written. */
export function decodeBase(bytes: Buffer | undefined): Base | undefined {
  const [text = '', checksum] = bytes?.toString('latin1').split('\n') ?? [];
  return checksum === String(crc32(text)) ? (JSON.parse(text) as Base) : undefined;
}
