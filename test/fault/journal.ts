import { createHash } from 'node:crypto';
import { openSync, readFileSync, writeSync } from 'node:fs';
import type { Entry, StoreEvent } from '../../storage/store.ts';
import type { Change, Input, Output } from './history.ts';

/** One thing that happened, in the order of happening. Ids of calls, lists and watches are unique in a trial. */
export type Line =
  | ['call', id: string, key: string, input: Input]
  | ['done', id: string, output: Output]
  /** Refused or failed: it may have happened all the same. */
  | ['lost', id: string, code: string]
  /** `revision` null: the newest. */
  | ['list', id: string, start: string, end: string, revision: number | null]
  | ['listed', id: string, revision: number, digest: string]
  | ['watch', id: string, start: string, end: string, after: number]
  | ['event', id: string, change: Change]
  /** Everything up to this revision was told to the watch: a bookmark. */
  | ['mark', id: string, revision: number]
  | ['note', text: string];

export type Recorder = (line: Line) => void;

/** Lines that survive the death of the process: each is one write to a file elsewhere than the store's. */
export function recordTo(path: string): Recorder {
  const file = openSync(path, 'a', 0o600);
  return (line) => {
    writeSync(file, `${JSON.stringify(line)}\n`);
  };
}

export function readJournal(path: string): Line[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}

/** The bytes of a value: its name, then filler that depends on it, so that damage anywhere shows. */
export function encodeValue(name: string, size: number): Buffer {
  const head = `${name}|${size}|`;
  return Buffer.alloc(Math.max(size, head.length), createHash('md5').update(head).digest('base64')).fill(
    head,
    0,
    head.length,
  );
}

/** A value's name; something that nobody wrote when the bytes are not exactly a value's. */
export function decodeValue(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const [name = '', size = ''] = buffer.toString('latin1', 0, 60).split('|');
  if (buffer.equals(encodeValue(name, Number(size) || 0))) return name;
  return `damaged:${createHash('md5').update(buffer).digest('hex')}`;
}

export function changeOf({ type, entry, previous }: StoreEvent): Change {
  return {
    type,
    key: entry.key,
    revision: entry.revision,
    created: entry.created,
    value: decodeValue(entry.value),
    previous: previous && { revision: previous.revision, value: decodeValue(previous.value) },
  };
}

/** What a list showed, short. */
export function digestOf(
  entries: Iterable<{ key: string; revision: number; created: number; value: string }>,
) {
  const hash = createHash('md5');
  for (const { key, revision, created, value } of entries)
    hash.update(`${key} ${revision} ${created} ${value}\n`);
  return hash.digest('hex');
}

export function named(entry: Entry): { key: string; revision: number; created: number; value: string } {
  return { ...entry, value: decodeValue(entry.value) };
}
