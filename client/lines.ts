import { Pieces } from '../kube/pieces.ts';
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
  let line = new Pieces();
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      const part = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (part.length > 0) line.add(part);
      if (line.length > max) throw new TransportError('ETOOLARGE', `a line is longer than ${max} bytes`);
      if (end < 0) break;
      if (line.length > 0) yield text(line.whole());
      line = new Pieces();
      start = end + 1;
    }
  }
}

function text({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}
