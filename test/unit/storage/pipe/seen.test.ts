import { describe, expect, it } from 'vitest';
import { Seen } from '../../../../storage/pipe/seen.ts';
import type { Entry, StoreEvent } from '../../../../storage/store.ts';
import { bytes, fails, text } from '../../../contract/store.ts';
import { until } from '../../../contract/until.ts';
import { Random } from '../../../fault/random.ts';
import { piped } from './piped.ts';

const all = () => true;
const ALL = { start: '', end: '\x7f' };

function entry(key: string, revision: number, value: Uint8Array = bytes(`${revision}`)): Entry {
  return { key, value, revision, created: 1 };
}

describe('what was seen through a pipe', () => {
  it('is what others wrote, once a watch told of it, and what was written or read through it', async () => {
    const { pipe, store } = await piped();
    await store.create('/watched/a', bytes('1'));
    await store.create('/other/a', bytes('1'));
    expect(pipe.seen?.('/watched/a')).toBeUndefined();
    await pipe.watch({ start: '/watched/', end: '/watched0' }, { after: 0, sink: () => {} });
    expect(text(pipe.seen?.('/watched/a'))).toBe('1');
    expect(pipe.seen?.('/other/a')).toBeUndefined();
    await pipe.get('/other/a');
    expect(text(pipe.seen?.('/other/a'))).toBe('1');
    await pipe.update('/other/a', bytes('2'), 2);
    expect(pipe.seen?.('/other/a')).toMatchObject({ revision: 3, created: 2 });
    await store.update('/watched/a', bytes('2'), 1);
    await until(() => pipe.revision === 4);
    expect(text(pipe.seen?.('/watched/a'))).toBe('2');
    await store.delete('/watched/a', 4);
    await until(() => pipe.revision === 5);
    expect(pipe.seen?.('/watched/a')).toBeUndefined();
  });

  it('is not what turned out to be another', async () => {
    const { pipe, store } = await piped();
    await pipe.create('/a', bytes('1'));
    await store.update('/a', bytes('2'), 1);
    // Nobody here has watched it.
    expect(text(pipe.seen?.('/a'))).toBe('1');
    await fails(pipe.update('/a', bytes('mine'), 1), 'conflict');
    expect(pipe.seen?.('/a')).toBeUndefined();
    await pipe.get('/a');
    await store.delete('/a', 2);
    expect(text(pipe.seen?.('/a'))).toBe('2');
    await fails(pipe.delete('/a', 2), 'missing');
    expect(pipe.seen?.('/a')).toBeUndefined();
    expect(await pipe.get('/a')).toBeUndefined();
    expect(pipe.seen?.('/a')).toBeUndefined();
  });

  it('is a version that there was, whoever writes, and the newest once all is told', async () => {
    const { pipe, store } = await piped();
    const versions = new Map<string, string>();
    await pipe.watch(ALL, { after: 0, sink: () => {} });
    const random = new Random(3, 3);
    for (let i = 1; i <= 400; i++) {
      const key = `/k/${random.below(5)}`;
      const there = await store.get(key);
      const through = random.chance(0.5) ? pipe : store;
      if (there === undefined)
        versions.set(`${key} ${(await through.create(key, bytes(`${i}`))).revision}`, `${i}`);
      else if (random.chance(0.3)) await through.delete(key, there.revision);
      else
        versions.set(`${key} ${(await through.update(key, bytes(`${i}`), there.revision)).revision}`, `${i}`);
      for (let k = 0; k < 5; k++) {
        const seen = pipe.seen?.(`/k/${k}`);
        if (seen) expect(versions.get(`${seen.key} ${seen.revision}`)).toBe(text(seen));
      }
    }
    await until(() => pipe.revision === store.revision);
    for (let k = 0; k < 5; k++) expect(pipe.seen?.(`/k/${k}`)).toEqual(await store.get(`/k/${k}`));
  });

  it('is nothing any more once the pipe is gone', async () => {
    const { pipe, near } = await piped();
    await pipe.create('/a', bytes('1'));
    near.destroy();
    await until(() => pipe.seen?.('/a') === undefined);
    await fails(pipe.get('/a'), 'unavailable');
    expect(pipe.seen?.('/a')).toBeUndefined();
  });
});

describe('what is kept of it', () => {
  const put = (of: Entry): StoreEvent => ({ type: 'put', entry: of });

  it('is bounded in bytes: what was seen for longest goes', () => {
    const seen = new Seen(all, 10_000);
    for (let i = 1; i <= 1000; i++) seen.event(put(entry(`/k/${i % 100}`, i)));
    expect(seen.bytes).toBeLessThanOrEqual(10_000);
    expect(seen.get('/k/0')?.revision).toBe(1000);
    expect(seen.get('/k/1')).toBeUndefined();
    for (let i = 0; i < 100; i++) seen.forget(`/k/${i}`);
    expect(seen.bytes).toBe(0);
  });

  it('is nothing that is large, and then nothing older either', () => {
    const seen = new Seen(all);
    seen.note(entry('/a', 1));
    seen.note(entry('/a', 2, Buffer.alloc(1 << 20)));
    expect([seen.get('/a'), seen.bytes]).toEqual([undefined, 0]);
  });

  it('is the newest, in whatever order it comes', () => {
    const seen = new Seen(all);
    seen.note(entry('/a', 5));
    seen.event(put(entry('/a', 3)));
    seen.event({ type: 'delete', entry: entry('/a', 4) });
    expect(seen.get('/a')?.revision).toBe(5);
    seen.event({ type: 'delete', entry: entry('/a', 6) });
    expect(seen.get('/a')).toBeUndefined();
  });

  it('is the value alone, not all that came with it', () => {
    const seen = new Seen(all);
    const frame = Buffer.alloc(1 << 16, 'x');
    seen.event(put(entry('/a', 1, frame.subarray(10, 20))));
    seen.note(entry('/b', 2, frame.subarray(10, 30)));
    expect(['/a', '/b'].map((key) => seen.get(key)?.value.buffer.byteLength)).toEqual([10, 20]);
  });

  it('is of keys alone that somebody asked to keep', () => {
    const seen = new Seen((key) => key.startsWith('/kept/'));
    seen.event(put(entry('/kept/a', 1)));
    seen.event(put(entry('/other/a', 2)));
    seen.note(entry('/other/b', 3));
    expect(['/kept/a', '/other/a', '/other/b'].map((key) => seen.get(key)?.revision)).toEqual([
      1,
      undefined,
      undefined,
    ]);
  });
});
