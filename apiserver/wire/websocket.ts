import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ApiRequest, ApiResponse } from '../../kube/http.ts';
import { drained } from './send.ts';
import { upgradeHeaders } from './upgrade-headers.ts';

/** https://www.rfc-editor.org/rfc/rfc6455 */
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 };
/** A control frame may not be longer, and nothing else is expected. */
const maxControlBytes = 125;
const goingAway = Buffer.from([0x03, 0xe9]);

/**
 * The answer to a watch that was asked for over a WebSocket, as browsers do: the same events, each in a text frame.
 * Undefined for any other exchange. https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export function overWebSocket(request: ApiRequest, response: ApiResponse): ApiResponse | undefined {
  const { headers } = request;
  const key = headers['sec-websocket-key'];
  const type = String(response.headers['content-type'] ?? '');
  const streams = response.status === 200 && !(response.body instanceof Uint8Array);
  if (!/^websocket$/i.test(headers['upgrade'] ?? '') || key === undefined || !streams) return undefined;
  if (!type.startsWith('application/json')) return undefined;
  const protocol = upgradeHeaders(headers)['sec-websocket-protocol'];
  return {
    status: 101,
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': createHash('sha1')
        .update(key + guid)
        .digest('base64'),
      ...(protocol && !protocol.includes(',') && { 'sec-websocket-protocol': protocol }),
    },
    body: response.body,
  };
}

/** Sends each line as a message, with its end, as kube-apiserver does, at the reader's pace, until the lines end or the reader goes. */
export async function sendMessages(
  socket: Duplex,
  lines: AsyncIterable<Uint8Array>,
  stallMillis: number,
): Promise<void> {
  answerControls(socket);
  let rest = Buffer.alloc(0);
  for await (const chunk of lines) {
    if (socket.destroyed || socket.writableEnded) return;
    rest = Buffer.concat([rest, chunk]);
    let room = true;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      room = socket.write(frame(opcodes.text, rest.subarray(0, end + 1)));
      rest = rest.subarray(end + 1);
    }
    if (!room && !(await drained(socket, stallMillis))) return void socket.destroy();
  }
  if (!socket.destroyed) socket.end(frame(opcodes.close, goingAway));
}

function frame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (length < 126) head[1] = length;
  else if (length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}

/** Pings get their pong, a close its close; what else a reader says is not listened to, but must be short. */
function answerControls(socket: Duplex): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const [first = 0, second = 0] = pending;
      const length = second & 0x7f;
      if (pending.length < 2) return;
      const masked = (second & 0x80) !== 0;
      if (length > maxControlBytes || !masked) return void socket.destroy();
      if (pending.length < 6 + length) return;
      const mask = pending.subarray(2, 6);
      const payload = Buffer.from(
        pending.subarray(6, 6 + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0)),
      );
      pending = pending.subarray(6 + length);
      const opcode = first & 0x0f;
      if (opcode === opcodes.ping) socket.write(frame(opcodes.pong, payload));
      if (opcode === opcodes.close) return void socket.end(frame(opcodes.close, payload.subarray(0, 2)));
    }
  });
}
