import { TransportError } from './errors.ts';

const newline = 0x0a;
const defaultMax = 64 << 20;

/**
 * Lines of a byte stream, decoded one by one: chunks may end anywhere, also inside a character. Blank lines are
 * skipped, and so is an unfinished last line: the stream was cut, and half an event is none. A line longer than
 * `max` bytes fails with ETOOLARGE before it is decoded.
 */
export async function* lines(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  max: number = defaultMax,
): AsyncIterable<string> {
  let pending: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      const part = chunk.subarray(start, end < 0 ? chunk.length : end);
      held += part.length;
      if (held > max) throw new TransportError('ETOOLARGE', `a line is longer than ${max} bytes`);
      if (part.length > 0) pending.push(part);
      if (end < 0) break;
      if (held > 0) yield text(pending);
      pending = [];
      held = 0;
      start = end + 1;
    }
  }
}

function text(parts: Uint8Array[]): string {
  const [first] = parts;
  if (parts.length > 1 || first === undefined) return Buffer.concat(parts).toString('utf8');
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength).toString('utf8');
}
