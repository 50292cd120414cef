import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import type { ApiRequest, ApiResponse } from '../../kube/http.ts';
import type { Outbox } from './outbox.ts';

const gzipBytes = promisify(gzip);
/** Smaller answers are not worth compressing, as kube-apiserver sees it. */
const gzipFrom = 128 * 1024;
const gzipOptions = { level: constants.Z_BEST_SPEED, chunkSize: 128 * 1024 };

export interface Sending {
  /** A reader that takes nothing for so long is cut. */
  stallMillis: number;
  outbox: Outbox;
}

/** Writes an answer. Resolves when its last byte is on its way, or the reader went or stalled for too long. */
export async function send(
  out: ServerResponse,
  request: ApiRequest,
  response: ApiResponse,
  { stallMillis, outbox }: Sending,
): Promise<void> {
  const { status, headers, body } = response;
  const length = body instanceof Uint8Array ? body.length : Number(headers['content-length'] ?? 0);
  if (length >= gzipFrom && takesGzip(request)) return sendPacked(out, response, stallMillis);
  if (!(body instanceof Uint8Array)) return sendStream(out, response, body, stallMillis);
  if (out.destroyed) return;
  if (request.method === 'HEAD') headers['content-length'] ??= String(body.length);
  else if (status !== 304) headers['content-length'] = String(body.length);
  out.writeHead(status, headers);
  if (request.method === 'HEAD' || status === 304) return outbox.end(out, undefined);
  if (body.length < drainFrom) return outbox.end(out, body);
  return endDrained(out, body, stallMillis);
}

/** As much as a socket takes at once, less a head. */
const drainFrom = 8 * 1024;

/**
 * Sends the end of an answer that fills the socket: its last byte only when there is room again. A client that had it
 * all might ask again before Node hears that its write went through; Node then stops reading in the middle of what
 * TLS has already handed over, and takes the rest of that request for nonsense.
 */
async function endDrained(out: ServerResponse, bytes: Uint8Array, stallMillis: number): Promise<void> {
  const last = bytes.length - 1;
  if (!out.write(bytes.subarray(0, last)) && !(await drained(out, stallMillis))) out.destroy();
  else out.end(bytes.subarray(last));
}

function takesGzip({ method, headers }: ApiRequest): boolean {
  const accepted = headers['accept-encoding'];
  return accepted !== undefined && method !== 'HEAD' && /\bgzip\b(?!;q=0(\.0*)?(,|$))/.test(accepted);
}

async function sendPacked(out: ServerResponse, response: ApiResponse, stallMillis: number): Promise<void> {
  const { status, headers, body } = response;
  headers['content-encoding'] = 'gzip';
  const { vary } = headers;
  if (vary === undefined) headers['vary'] = 'Accept-Encoding';
  else if (!String(vary).includes('Accept-Encoding')) headers['vary'] = `${String(vary)}, Accept-Encoding`;
  delete headers['content-length'];
  if (!(body instanceof Uint8Array)) return sendStream(out, response, packed(body), stallMillis);
  const bytes = await gzipBytes(body, gzipOptions);
  if (out.destroyed) return;
  headers['content-length'] = String(bytes.length);
  out.writeHead(status, headers);
  return endDrained(out, bytes, stallMillis);
}

async function* packed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const through = createGzip(gzipOptions);
  const feeding = feed(body, through);
  try {
    yield* through;
    await feeding;
  } finally {
    through.destroy();
  }
}

async function feed(body: AsyncIterable<Uint8Array>, into: ReturnType<typeof createGzip>): Promise<void> {
  try {
    for await (const bytes of body) {
      if (into.destroyed) return;
      if (!into.write(bytes)) await roomOrEnd(into);
    }
    into.end();
  } catch (error) {
    into.destroy(error as Error);
  }
}

/** It takes more, or nothing ever again. Nobody listens on: there may be very many such waits for one answer. */
function roomOrEnd(into: Writable): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      into.off('drain', end).off('close', end);
      resolve();
    };
    into.on('drain', end).on('close', end);
  });
}

/** Headers go out at once: clients wait for them before they believe that a watch has begun. */
async function sendStream(
  out: ServerResponse,
  { status, headers }: ApiResponse,
  body: AsyncIterable<Uint8Array>,
  stallMillis: number,
): Promise<void> {
  out.writeHead(status, headers);
  out.flushHeaders();
  // Where the client counts bytes, a piece is held back until the next one is there: its last one ends the answer.
  const counted = headers['content-length'] !== undefined;
  let held: Uint8Array | undefined;
  try {
    for await (const bytes of body) {
      if (out.destroyed) return;
      const next = counted ? held : bytes;
      held = counted ? bytes : undefined;
      if (next && !out.write(next) && !(await drained(out, stallMillis))) break;
    }
  } catch {
    // The source broke off: so does the answer, without its last chunk.
    out.destroy();
  }
  if (out.writableNeedDrain || out.destroyed) out.destroy();
  else if (held && held.length > 0) await endDrained(out, held, stallMillis);
  else out.end();
}

/** False when the reader takes nothing for too long, or went. */
export function drained(out: Writable, millis: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (result: boolean) => {
      clearTimeout(timer);
      out.off('drain', onDrain);
      out.off('close', onClose);
      resolve(result);
    };
    const onDrain = () => end(true);
    const onClose = () => end(false);
    const timer = setTimeout(() => end(false), millis);
    out.once('drain', onDrain);
    out.once('close', onClose);
  });
}
