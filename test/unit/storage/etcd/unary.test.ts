import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallError } from '../../../../storage/etcd/errors.ts';
import { UnaryChannel } from '../../../../storage/etcd/unary.ts';
import { patienceMs } from '../../../eventually.ts';

type Answer = (stream: ServerHttp2Stream, message: Buffer) => void;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A server of one procedure, with what it was asked and how often it was connected to. */
async function serve(answer: Answer) {
  const server: Http2Server = createServer();
  const sessions: ServerHttp2Session[] = [];
  const headers: Record<string, unknown>[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, given) => {
    headers.push({ ...given });
    const chunks: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => answer(stream, Buffer.concat(chunks)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const channel = new UnaryChannel(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  cleanups.push(() => {
    channel.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  const call = (text: string, timeoutMs = patienceMs) =>
    channel.call('/etcdserverpb.KV/Txn', Buffer.from(text), { headers: { token: 't' }, timeoutMs });
  return { call, channel, sessions, headers };
}

function framed(text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

function respond(
  stream: ServerHttp2Stream,
  bytes: readonly Buffer[],
  trailers: Record<string, string>,
): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  for (const chunk of bytes) stream.write(chunk);
  stream.end();
}

const ok = { 'grpc-status': '0' };

async function failure(call: Promise<unknown>): Promise<Pick<CallError, 'code' | 'details'>> {
  const error = (await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )) as CallError;
  expect(error).toBeInstanceOf(Error);
  return { code: error.code, details: error.details };
}

describe('a call', () => {
  it('takes as long as its answer is: what comes in pieces is put together once', async () => {
    const mebibyte = Buffer.alloc(1 << 20);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(48 << 20, 1);
    const all = [head, ...Array.from({ length: 48 }, () => mebibyte)];
    const server = await serve((stream) => respond(stream, all, ok));
    const before = process.cpuUsage();
    expect((await server.call('asked')).length).toBe(48 << 20);
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });

  it('sends a message with its metadata and deadline, and answers the message that comes', async () => {
    const server = await serve((stream, message) => {
      expect(message).toEqual(framed('asked'));
      const answer = framed('answered');
      respond(stream, [answer.subarray(0, 3), answer.subarray(3, 7), answer.subarray(7)], ok);
    });
    expect((await server.call('asked')).toString()).toBe('answered');
    expect(server.headers[0]).toMatchObject({
      ':path': '/etcdserverpb.KV/Txn',
      'content-type': 'application/grpc+proto',
      'grpc-timeout': `${patienceMs}m`,
      te: 'trailers',
      token: 't',
    });
  });

  it('shares one connection with others', async () => {
    const server = await serve((stream, message) => respond(stream, [message], ok));
    const texts = Array.from({ length: 50 }, (_, i) => `call ${i}`);
    const answers = await Promise.all(texts.map((text) => server.call(text)));
    expect(answers.map(String)).toEqual(texts);
    expect(server.sessions).toHaveLength(1);
  });

  it.each<[string, Answer, number, string]>([
    [
      'a status after the answer',
      (stream) => respond(stream, [framed('x')], { 'grpc-status': '8', 'grpc-message': 'too%20many' }),
      ...([8, 'too many'] as const),
    ],
    [
      'a status alone',
      (stream) =>
        stream.respond({ ':status': 200, 'grpc-status': '16', 'grpc-message': 'who' }, { endStream: true }),
      ...([16, 'who'] as const),
    ],
    [
      'no gRPC at all',
      (stream) => stream.respond({ ':status': 502 }, { endStream: true }),
      ...([14, 'HTTP status 502'] as const),
    ],
    [
      'an answer without trailers',
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end(framed('x'));
      },
      ...([14, 'the connection was lost'] as const),
    ],
    [
      'half a message',
      (stream) => respond(stream, [framed('whole').subarray(0, 7)], ok),
      ...([13, 'the answer is not one message'] as const),
    ],
    [
      'a compressed message',
      (stream) => respond(stream, [Buffer.from([1, 0, 0, 0, 0])], ok),
      ...([13, 'the answer is compressed'] as const),
    ],
  ])('fails with %s', async (_, answer, code, details) => {
    const server = await serve(answer);
    expect(await failure(server.call('x'))).toEqual({ code, details });
  });
});

describe('a connection', () => {
  it('that is lost fails the calls under way, and the next call makes another', async () => {
    let alive = false;
    const server = await serve((stream, message) => {
      if (alive) respond(stream, [message], ok);
      else stream.session?.destroy();
    });
    const failed = await Promise.all([failure(server.call('a')), failure(server.call('b'))]);
    expect(failed.map(({ code }) => code)).toEqual([14, 14]);
    alive = true;
    expect(String(await server.call('c'))).toBe('c');
    expect(server.sessions).toHaveLength(2);
  });

  it('that is to be left ends its calls, and the next call makes another', async () => {
    const server = await serve((stream, message) => {
      if (server.sessions.length === 1) stream.session?.goaway();
      setTimeout(() => respond(stream, [message], ok), 20);
    });
    expect(String(await server.call('a'))).toBe('a');
    expect(String(await server.call('b'))).toBe('b');
    expect(server.sessions).toHaveLength(2);
  });

  it('nobody listens to fails the call', async () => {
    const server = await serve(() => {});
    const channel = new UnaryChannel('http://127.0.0.1:1');
    expect(
      await failure(channel.call('/x', Buffer.from(''), { headers: {}, timeoutMs: patienceMs })),
    ).toMatchObject({
      code: 14,
    });
    channel.close();
    server.channel.close();
    expect(await failure(server.call('x'))).toEqual({ code: 1, details: 'the connection was closed' });
  });

  it('that answers late keeps: the call fails at its deadline, the next one goes over the same', async () => {
    let calls = 0;
    const server = await serve((stream, message) => {
      if (++calls > 1) respond(stream, [message], ok);
    });
    expect(await failure(server.call('slow', 50))).toEqual({ code: 4, details: 'no answer within 50 ms' });
    expect(String(await server.call('next'))).toBe('next');
    expect(server.sessions).toHaveLength(1);
  });
});
