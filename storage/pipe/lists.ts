import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListResult } from '../store.ts';
import { Tell } from './ops.ts';
import type { Outbox } from './outbox.ts';

/** Everything else has its turn between two parts of a list of this size. */
const PART_BYTES = 256 << 10;
/** A list waits for whoever reads slowly. */
const BACKLOG_BYTES = 1 << 20;

/** Sends a list, a long one in parts. Its revision is told with the last of them. */
export async function sendList(
  box: Outbox,
  { entries, revision, more, remaining }: ListResult,
  tell: (op: number, body: () => void) => void,
): Promise<void> {
  const { out } = box;
  let next = 0;
  const part = (): void => {
    const begun = out.length;
    const from = next;
    out.u32(0);
    for (let entry = entries[next]; entry !== undefined; entry = entries[++next]) {
      if (out.length - begun >= PART_BYTES) break;
      out.entry(entry);
    }
    out.patchU32(begun, next - from);
  };
  while (isLong(entries, next)) {
    tell(Tell.part, part);
    await nextTurn();
    await box.room(BACKLOG_BYTES);
    if (box.over) return;
  }
  tell(Tell.list, () => {
    part();
    out.f64(revision);
    out.u8(more ? 1 : 0);
    out.f64(remaining);
  });
}

/** Whether the entries from `first` on are more than one part. */
function isLong(entries: ListResult['entries'], first: number): boolean {
  let bytes = 0;
  for (let i = first; i < entries.length; i++) {
    const entry = entries[i];
    if (entry !== undefined) bytes += entry.value.length + entry.key.length + 24;
    if (bytes >= PART_BYTES) return true;
  }
  return false;
}
