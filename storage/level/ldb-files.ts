import { maskedCrc32c } from './crc32c.ts';

/**
 * LevelDB's files, read without LevelDB: it checks no block of a table that it reads, and ends the whole process
 * over some kinds of damage. Formats: https://github.com/google/leveldb/tree/main/doc (table_format, log_format).
 */
export interface RawEntry {
  readonly key: string;
  /** LevelDB's own order of writes; of one key the highest counts. */
  readonly sequence: number;
  /** Absent for a deletion. */
  readonly value: Buffer | undefined;
}

const FOOTER = 48;
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
const TRAILER = 5;
const LOG_BLOCK = 32_768;
const LOG_HEADER = 7;

/** Whether a table is what was written, to the last block. Our tables are not compressed. */
export function checkTable(bytes: Buffer, problem: (text: string) => void): void {
  for (const { data, offset } of blocks(bytes, problem)) {
    if (data === undefined) problem(`the block at byte ${offset} does not match its checksum`);
  }
}

/** The entries of a table; blocks that are not what was written are left out. */
export function* readTable(bytes: Buffer): Generator<RawEntry> {
  for (const { data } of blocks(bytes, () => {})) {
    if (data === undefined) continue;
    for (const { key, value } of entries(data)) yield internal(key, value);
  }
}

function* blocks(
  bytes: Buffer,
  problem: (text: string) => void,
): Generator<{ data: Buffer | undefined; offset: number }> {
  const footer = bytes.subarray(Math.max(0, bytes.length - FOOTER));
  if (footer.length < FOOTER || !footer.subarray(FOOTER - MAGIC.length).equals(MAGIC)) {
    return problem('it does not end as a table does');
  }
  const at = new Cursor(footer);
  if (block(bytes, handle(at)) === undefined) problem('its second index does not match its checksum');
  const index = block(bytes, handle(at));
  if (index === undefined) return problem('its index does not match its checksum');
  for (const { value } of entries(index)) {
    const place = handle(new Cursor(value));
    yield { data: block(bytes, place), offset: place.offset };
  }
}

/** The batches of a log file, each written at once, in order; tells where it had to leave something out. */
export function* readLog(bytes: Buffer, unreadable: (offset: number) => void): Generator<RawEntry[]> {
  for (const record of logRecords(bytes, unreadable)) yield readBatch(record);
}

/** What a MANIFEST says the database has: the lengths of tables by their number, and the oldest log in use. */
export function readManifest(manifest: Buffer): { tables: Map<number, number>; log: number | undefined } {
  const live = new Map<number, number>();
  let log: number | undefined;
  for (const record of logRecords(manifest, () => {})) {
    const at = new Cursor(record);
    while (!at.done) {
      const tag = at.varint();
      // 1 comparator, 3 next file, 4 last sequence, 9 log before: nothing of these matters here.
      if (tag === 1) at.bytes(at.varint());
      else if (tag === 2) log = at.varint();
      else if (tag === 3 || tag === 4 || tag === 9) at.varint();
      else if (tag === 5) {
        at.varint();
        at.bytes(at.varint());
      } else if (tag === 6) {
        at.varint();
        live.delete(at.varint());
      } else if (tag === 7) {
        at.varint();
        live.set(at.varint(), at.varint());
        at.bytes(at.varint());
        at.bytes(at.varint());
      } else break;
    }
  }
  return { tables: live, log };
}

function* logRecords(bytes: Buffer, unreadable: (at: number) => void): Generator<Buffer> {
  let parts: Buffer[] = [];
  let begun: number | undefined;
  for (let start = 0; start < bytes.length; start += LOG_BLOCK) {
    const end = Math.min(bytes.length, start + LOG_BLOCK);
    let at = start;
    while (at + LOG_HEADER <= end) {
      const length = bytes.readUInt16LE(at + 4);
      const type = bytes[at + 6] ?? 0;
      const body = bytes.subarray(at + 6, at + LOG_HEADER + length);
      const next = at + LOG_HEADER + length;
      if (next > end || maskedCrc32c(body) !== bytes.readUInt32LE(at)) {
        unreadable(begun ?? at);
        begun = undefined;
        parts = [];
        // LevelDB leaves out the rest of the block; where the length is right, what comes next is right, too.
        at = next;
        continue;
      }
      // 1 whole, 2 first, 3 middle, 4 last
      if (type === 1 || type === 2) {
        parts = [];
        begun = at;
      }
      if (begun === undefined) unreadable(at);
      else parts.push(body.subarray(1));
      at = next;
      if (begun === undefined || (type !== 1 && type !== 4)) continue;
      yield Buffer.concat(parts);
      begun = undefined;
    }
    // Less than a header is left free at the end of a block, and only there.
    if (at < end && end < start + LOG_BLOCK) unreadable(at);
  }
  if (begun !== undefined) unreadable(begun);
}

function readBatch(bytes: Buffer): RawEntry[] {
  const entries: RawEntry[] = [];
  if (bytes.length < 12) return entries;
  const first = Number(bytes.readBigUInt64LE(0));
  const count = bytes.readUInt32LE(8);
  const at = new Cursor(bytes.subarray(12));
  for (let i = 0; i < count && !at.done; i++) {
    const type = at.byte();
    const key = at.bytes(at.varint()).toString('latin1');
    entries.push({ key, sequence: first + i, value: type === 1 ? at.bytes(at.varint()) : undefined });
  }
  return entries;
}

interface Handle {
  readonly offset: number;
  readonly size: number;
}

function handle(at: Cursor): Handle {
  return { offset: at.varint(), size: at.varint() };
}

/** `undefined` when it is not what was written. */
function block(bytes: Buffer, { offset, size }: Handle): Buffer | undefined {
  const end = offset + size;
  if (end + TRAILER > bytes.length) return undefined;
  const whole = bytes.subarray(offset, end + 1);
  if (maskedCrc32c(whole) !== bytes.readUInt32LE(end + 1) || whole[size] !== 0) return undefined;
  return whole.subarray(0, size);
}

/** The entries of a block; each key leaves out what it shares with the one before it. */
function* entries(bytes: Buffer): Generator<{ key: Buffer; value: Buffer }> {
  if (bytes.length < 4) return;
  const restarts = bytes.readUInt32LE(bytes.length - 4);
  const at = new Cursor(bytes.subarray(0, Math.max(0, bytes.length - 4 * (restarts + 1))));
  let key = Buffer.alloc(0);
  while (!at.done) {
    const shared = at.varint();
    const rest = at.varint();
    const length = at.varint();
    key = Buffer.concat([key.subarray(0, shared), at.bytes(rest)]);
    yield { key, value: at.bytes(length) };
  }
}

/** A table's key ends with eight bytes: the sequence above the type. */
function internal(key: Buffer, value: Buffer): RawEntry {
  const end = Math.max(0, key.length - 8);
  const tag = key.length >= 8 ? key.readBigUInt64LE(end) : 0n;
  const sequence = Number(tag >> 8n);
  return { key: key.toString('latin1', 0, end), sequence, value: (tag & 255n) === 1n ? value : undefined };
}

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.#at++] ?? 0;
  }

  bytes(length: number): Buffer {
    const from = this.#at;
    this.#at = from + length;
    return this.#bytes.subarray(from, from + length);
  }

  varint(): number {
    let value = 0;
    for (let shift = 1; !this.done; shift *= 128) {
      const byte = this.byte();
      value += (byte & 127) * shift;
      if (byte < 128) break;
    }
    return value;
  }
}
