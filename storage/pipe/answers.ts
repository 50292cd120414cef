import type { Entry, ListResult } from '../store.ts';
import { BadFrame, type Cursor } from './frames.ts';
import { Tell } from './ops.ts';

/** A question that is not answered yet. */
export interface Call {
  readonly resolve: (answer: never) => void;
  readonly reject: (reason: Error) => void;
  /** Of a create or update. */
  readonly key: string;
  readonly value: Uint8Array | undefined;
  /** Of a list that comes in parts. */
  entries: Entry[] | undefined;
}

/** The rest of a frame that answers a question. */
export function readAnswer(op: number, frame: Cursor, { key, value, entries }: Call): unknown {
  switch (op) {
    case Tell.written: {
      if (value === undefined) throw new BadFrame('the answer of a write to something else');
      const revision = frame.f64();
      return { key, value, revision, created: frame.f64() };
    }
    case Tell.entry:
      return lone(frame.entry(), frame);
    case Tell.list: {
      const all = readEntries(frame, entries);
      const revision = frame.f64();
      const more = frame.u8() === 1;
      return { entries: all, revision, more, remaining: frame.f64() } satisfies ListResult;
    }
    case Tell.lease: {
      const held = frame.u32();
      return { held, token: frame.f64() };
    }
    case Tell.yes:
      return true;
    case Tell.no:
      return false;
    case Tell.report:
      return JSON.parse(frame.string());
    case Tell.nothing:
      return undefined;
    default:
      throw new BadFrame(`answer ${op}`);
  }
}

/** Those of a part of a list, after those `before`. */
export function readEntries(frame: Cursor, before: Entry[] | undefined): Entry[] {
  const entries = before ?? [];
  for (let count = frame.u32(); count > 0; count--) entries.push(frame.entry());
  return entries;
}

/** A small value does not keep all that came with it. */
function lone(entry: Entry, frame: Cursor): Entry {
  return entry.value.length * 4 >= frame.pinned ? entry : { ...entry, value: Buffer.from(entry.value) };
}
