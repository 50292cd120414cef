import type { IncomingMessage } from 'node:http';
import { TransportError } from './errors.ts';

export function receive(incoming: IncomingMessage): {
  status: number;
  headers: Record<string, string | string[]>;
} {
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { status: incoming.statusCode ?? 0, headers: Object.fromEntries(headers) };
}

/** Chunks up to `max` bytes in all; the socket goes when the reader stops early or asks for too much. */
export async function* boundedBody(
  incoming: IncomingMessage,
  max: number,
  translate: (error: unknown) => TransportError,
): AsyncIterable<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of incoming) {
      size += (chunk as Buffer).length;
      if (size > max) throw tooLarge(max);
      yield chunk as Buffer;
    }
    if (!incoming.complete) throw cut();
  } catch (error) {
    throw translate(error);
  } finally {
    incoming.destroy();
  }
}

export function tooLarge(max: number): TransportError {
  return new TransportError('ETOOLARGE', `the answer is longer than ${max} bytes`);
}

/** A server that dies in mid-answer must not look like one that has finished. */
export function cut(): TransportError {
  return new TransportError('ECONNRESET', 'the answer was cut');
}
