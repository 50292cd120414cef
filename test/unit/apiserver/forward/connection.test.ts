import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { ForwardError, ForwardedConnection } from '../../../../apiserver/forward/connection.ts';
import { frame, opcodes } from '../../../../apiserver/forward/frames.ts';
import { clientFrames, data, pair, portBytes, served } from '../../../aggregation/forward.ts';

const port = 8443;
let far: Duplex;
let connection: ForwardedConnection;
let failure: Promise<Error>;
beforeEach(() => {
  const [near, other] = pair();
  far = other;
  far.on('error', () => undefined);
  connection = new ForwardedConnection(near, port);
  failure = once(connection, 'failed').then(([error]) => error as Error);
  failure.catch(() => undefined);
});

const begin = () => far.write(Buffer.concat([data(0, portBytes(port)), data(1, portBytes(port))]));

async function received(): Promise<string> {
  let text = '';
  for await (const piece of connection) text += (piece as Buffer).toString('latin1');
  return text;
}

describe('what comes', () => {
  test('is the data past the port, however it is cut, until the other end closes', async () => {
    const long = Buffer.alloc(70_000, 'x');
    const all = Buffer.concat([
      data(0, portBytes(port).subarray(0, 1)),
      served(9, Buffer.from('ping')),
      data(0, portBytes(port).subarray(1), Buffer.from('a')),
      data(1, portBytes(port)),
      served(2, Buffer.alloc(0)),
      data(0),
      data(0, long),
      data(0, Buffer.alloc(300, 'y')),
      served(8, Buffer.from([3, 232])),
      data(0, Buffer.from('late')),
    ]);
    void (async () => {
      for (let at = 0; at < all.length; at += at < 200 || at > 70_000 ? 1 : 7001) {
        const next = at + (at < 200 || at > 70_000 ? 1 : 7001);
        far.write(all.subarray(at, next));
        if (at % 50 === 0) await new Promise(setImmediate);
      }
    })();
    expect(await received()).toBe(`a${long}${'y'.repeat(300)}`);
  });

  test('is read no faster than it is taken', async () => {
    begin();
    let written = 0;
    while (far.write(data(0, Buffer.alloc(16_384)))) {
      written++;
      await new Promise(setImmediate);
      if (written > 1_000) throw new Error('everything was taken');
    }
    connection.resume();
    await once(far, 'drain');
    connection.destroy();
  });
});

describe('what is sent', () => {
  test('is masked, in messages of 32 KiB, and ends with a close', async () => {
    const chunks: Buffer[] = [];
    far.on('data', (chunk: Buffer) => chunks.push(chunk));
    connection.write(Buffer.alloc(70_000, 'z'));
    connection.end('end');
    await once(far, 'end');
    const { frames, rest } = clientFrames(Buffer.concat(chunks));
    expect(rest).toHaveLength(0);
    expect(frames.map(({ opcode, payload }) => [opcode, payload[0], payload.length])).toEqual([
      [2, 0, 32_769],
      [2, 0, 32_769],
      [2, 0, 4_465],
      [2, 0, 4],
      [8, undefined, 0],
    ]);
    expect(frames[0]?.payload.subarray(1).equals(Buffer.alloc(32_768, 'z'))).toBe(true);
    expect(Buffer.concat(chunks).includes('zzzz')).toBe(false);
  });

  test('frames of each length are what they say', () => {
    for (const length of [0, 1, 125, 126, 65_535, 65_536]) {
      const { frames } = clientFrames(frame(opcodes.binary, Buffer.alloc(length, 7)));
      expect(frames).toMatchObject([{ opcode: 2 }]);
      expect(frames[0]?.payload.equals(Buffer.alloc(length, 7))).toBe(true);
    }
  });

  test('a ping is answered, unless nobody reads the answers', async () => {
    begin();
    far.write(served(9, Buffer.from('hello')));
    const [chunk] = await once(far, 'data');
    expect(clientFrames(chunk).frames).toMatchObject([{ opcode: 10, payload: Buffer.from('hello') }]);
    far.pause();
    connection.resume();
    const ping = served(9, Buffer.alloc(125));
    for (let sent = 0; sent < 2_000; sent++) {
      far.write(ping);
      if (sent % 100 === 0) await new Promise(setImmediate);
    }
    await new Promise(setImmediate);
    let answered = 0;
    far.on('data', (bytes: Buffer) => {
      answered += bytes.length;
    });
    await new Promise(setImmediate);
    expect(answered).toBeLessThan(100_000);
    connection.destroy();
  });
});

describe('what is no forward ends it', () => {
  test.each([
    ['data for a channel that is not ours', data(2, Buffer.from('x')), 'data for channel 2'],
    ['data for the last channel', data(255, Buffer.from('x')), 'data for channel 255'],
    ['another port', data(0, portBytes(80)), 'another port'],
    ['a masked frame', served(2, Buffer.from('xx'), { mask: 0x80 }), 'a masked frame'],
    ['text', served(1, Buffer.from('0xx')), 'opcode 1'],
    ['a message in parts', served(2, Buffer.from('xx'), { first: 2 }), 'a message in parts'],
    ['a part of one', served(0, Buffer.from('xx'), { first: 0x80 }), 'opcode 0'],
    ['an extension', served(2, Buffer.from('xx'), { first: 0xc2 }), 'an extension that nobody asked for'],
    ['a control frame that is long', served(9, Buffer.alloc(126)), 'a long control frame'],
    [
      'a message of a mebibyte and one',
      Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 16, 0, 1]),
      'a message of 1048577 bytes',
    ],
    [
      'the longest message',
      Buffer.from([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255]),
      'a message of 18446744073709552000 bytes',
    ],
  ])('%s', async (_what, bytes, why) => {
    connection.resume();
    far.write(bytes);
    const error = await failure;
    expect(error).toBeInstanceOf(ForwardError);
    expect(error.message).toBe(`the forward is no forward: ${why}`);
    expect(connection.destroyed).toBe(true);
  });

  test('what the node says of it is the reason, a line of it', async () => {
    begin();
    connection.resume();
    far.write(data(1, Buffer.from(`no\u0007 way\n${'x'.repeat(5_000)}`)));
    expect((await failure).message).toBe('no  way');
  });

  test('a connection that is cut is no end of the data', async () => {
    begin();
    far.write(data(0, Buffer.from('half')));
    far.end();
    await expect(received()).rejects.toThrow();
    expect(await failure).toMatchObject({ code: 'ECONNRESET', message: 'the forward was cut' });
  });

  test('and goes with its tunnel, and the tunnel with it', async () => {
    connection.destroy();
    await once(far, 'close');
    expect(far.destroyed).toBe(true);
  });
});
