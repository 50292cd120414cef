import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { EventStream, joinBytes } from '../../../apiserver/handlers/watch/stream.ts';
import { until } from '../../contract/until.ts';

const line = (n: number) => Buffer.alloc(100, String(n % 10));

async function collect(stream: EventStream): Promise<string> {
  let all = '';
  for await (const bytes of stream) all += Buffer.from(bytes).toString();
  return all;
}

test('what comes first comes first, and all of it comes', async () => {
  let ended = 0;
  const stream = new EventStream({ bufferBytes: 1000, stallMillis: 1000 }, () => ended++, joinBytes);
  stream.push(Buffer.from('b'));
  stream.begin([Buffer.from('a')]);
  stream.push(Buffer.from('c'));
  stream.end();
  stream.push(Buffer.from('d'));
  expect(await collect(stream)).toBe('abc');
  expect(ended).toBe(1);
});

test('a reader that takes nothing is cut, and its source is freed', async () => {
  let ended = 0;
  const stream = new EventStream({ bufferBytes: 1000, stallMillis: 50 }, () => ended++, joinBytes);
  for (let i = 0; i < 20; i++) stream.push(line(i));
  expect(stream.ended).toBe(false);
  await until(() => stream.ended);
  expect(ended).toBe(1);
  expect(await collect(stream)).toBe('');
});

test('a burst beyond all bounds is cut at once', () => {
  const stream = new EventStream({ bufferBytes: 100, stallMillis: 10_000 }, () => {}, joinBytes);
  for (let i = 0; i < 40 && !stream.ended; i++) stream.push(line(i));
  expect(stream.ended).toBe(true);
});

test('a reader that leaves frees the source', async () => {
  let ended = 0;
  const stream = new EventStream({ bufferBytes: 1000, stallMillis: 1000 }, () => ended++, joinBytes);
  stream.push(line(1));
  for await (const _ of stream) break;
  expect(ended).toBe(1);
});

test('what it begins with is let go once it was taken, however long it lasts then', async () => {
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  const stream = new EventStream({ bufferBytes: 1000, stallMillis: 1000 }, () => {}, joinBytes);
  const held = (() => {
    const first = [line(1), line(2)];
    stream.begin(
      (function* () {
        yield* first;
      })(),
    );
    return new WeakRef(first);
  })();
  const reader = stream[Symbol.asyncIterator]();
  await reader.next();
  const waiting = reader.next();
  await until(() => {
    gc();
    return held.deref() === undefined;
  });
  stream.push(line(3));
  expect((await waiting).value).toEqual(line(3));
  await reader.return(undefined);
});
