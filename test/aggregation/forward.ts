import { createHash } from 'node:crypto';
import net from 'node:net';
import { Duplex } from 'node:stream';
import type { ApiRequest, Transport } from '../../kube/http.ts';

/** Two ends of a connection. */
export function pair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const taken: ((() => void) | undefined)[] = [];
  const make = (me: number, other: number) =>
    new Duplex({
      allowHalfOpen: true,
      read: () => {
        const next = taken[me];
        taken[me] = undefined;
        next?.();
      },
      write: (chunk, _encoding, done) => {
        if (ends[other]?.push(chunk)) return done();
        taken[other] = done;
      },
      final: (done) => {
        ends[other]?.push(null);
        done();
      },
      destroy: (error, done) => {
        setImmediate(() => ends[other]?.destroy());
        done(error);
      },
    });
  ends.push(make(0, 1), make(1, 0));
  return ends as [Duplex, Duplex];
}

/** A frame as a server sends it. */
export function served(
  opcode: number,
  payload: Uint8Array,
  { first = 0x80 | opcode, mask = 0 } = {},
): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = mask | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

export const data = (channel: number, ...bytes: Uint8Array[]): Buffer =>
  served(2, Buffer.concat([Buffer.from([channel]), ...bytes]));

export function portBytes(port: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(port);
  return bytes;
}

/** The messages of a client in what it has sent, unmasked; the rest is not whole yet. */
export function clientFrames(bytes: Buffer): { frames: { opcode: number; payload: Buffer }[]; rest: Buffer } {
  const frames: { opcode: number; payload: Buffer }[] = [];
  let rest = bytes;
  for (;;) {
    if (rest.length < 2) return { frames, rest };
    const short = (rest[1] ?? 0) & 0x7f;
    const begin = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (rest.length < begin + 4) return { frames, rest };
    const length =
      short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
    if (rest.length < begin + 4 + length) return { frames, rest };
    const mask = rest.subarray(begin, begin + 4);
    const payload = Buffer.from(rest.subarray(begin + 4, begin + 4 + length));
    for (let i = 0; i < length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0);
    frames.push({ opcode: (rest[0] ?? 0) & 0xf, payload });
    rest = rest.subarray(begin + 4 + length);
  }
}

/** The answer to a request for a forward, and the other end of its tunnel. */
export function accept(request: ApiRequest): { response: Awaited<ReturnType<Transport>>; far: Duplex } {
  const [near, far] = pair();
  const proof = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  const headers = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-accept': proof,
    'sec-websocket-protocol': 'v4.channel.k8s.io',
  };
  return { response: { status: 101, headers, body: new Uint8Array(), tunnel: near }, far };
}

/** As a kubelet: joins a tunnel to a port of this machine; what there is not is said on the second channel. */
export function join(far: Duplex, asked: number, to: number, host = '127.0.0.1'): net.Socket {
  const socket = net.connect(to, host);
  far.on('error', () => socket.destroy());
  far.write(data(0, portBytes(asked)));
  far.write(data(1, portBytes(asked)));
  let rest: Buffer = Buffer.alloc(0);
  far.on('data', (chunk: Buffer) => {
    const read = clientFrames(Buffer.concat([rest, chunk]));
    rest = read.rest;
    for (const { opcode, payload } of read.frames) {
      if (opcode === 8) socket.end();
      if (opcode === 2 && !socket.write(payload.subarray(1))) {
        far.pause();
        socket.once('drain', () => far.resume());
      }
    }
  });
  far.on('close', () => socket.destroy());
  socket.on('data', (chunk) => {
    if (far.destroyed || far.write(data(0, chunk))) return;
    socket.pause();
    far.once('drain', () => socket.resume());
  });
  socket.on('error', (error) => {
    if (!far.destroyed) far.write(data(1, Buffer.from(`error forwarding port ${asked}: ${error.message}`)));
  });
  socket.on('close', () => void (far.destroyed || far.end(served(8, Buffer.from([3, 232])))));
  return socket;
}
