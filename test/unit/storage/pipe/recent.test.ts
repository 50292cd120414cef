import { describe, expect, it } from 'vitest';
import { prefixRange, type Store } from '../../../../storage/store.ts';
import { bytes, text } from '../../../contract/store.ts';
import { until } from '../../../contract/until.ts';
import { Random } from '../../../fault/random.ts';
import { piped } from './piped.ts';

const ALL = { start: '', end: '\x7f' };

describe('what is recent through a pipe', () => {
  const few = prefixRange('/few/');
  const asText = (entries: ReturnType<NonNullable<Store['recent']>>) =>
    entries?.map((e) => `${e.key}=${text(e)}`);

  it('is never older than the revision that the pipe tells', async () => {
    const { pipe, store } = await piped();
    const states: string[][] = [[]];
    const now = new Map<string, string>();
    const random = new Random(5, 5);
    let answers = 0;
    const check = (): void => {
      const entries = pipe.recent?.(few);
      if (entries === undefined) return;
      answers++;
      expect(asText(entries)).toEqual(states[pipe.revision]);
    };
    await pipe.watch(ALL, { after: 0, sink: check });
    expect(pipe.recent?.(few)).toBeUndefined();
    await until(() => pipe.recent?.(few) !== undefined);
    for (let i = 0; i < 500; i++) {
      const key = `/few/${random.below(6)}`;
      const there = await store.get(key);
      const through = random.chance(0.5) ? pipe : store;
      // What becomes of it is known before anybody can ask.
      if (there === undefined || random.chance(0.6)) now.set(key, `${i}`);
      else now.delete(key);
      states.push([...now].sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, value]) => `${k}=${value}`));
      if (there === undefined) await through.create(key, bytes(`${i}`));
      else if (now.has(key)) await through.update(key, bytes(`${i}`), there.revision);
      else await through.delete(key, there.revision);
      check();
    }
    expect(answers).toBeGreaterThan(500);
  });

  it('is given up for a range that has grown too large, and comes back', async () => {
    const { pipe, store } = await piped();
    await store.create('/few/0', bytes(''));
    await until(() => pipe.recent?.(few)?.length === 1);
    for (let i = 1; i < 300; i++) await store.create(`/few/${i}`, bytes(''));
    await until(() => pipe.revision === 300);
    expect(pipe.recent?.(few)).toBeUndefined();
    await until(() => pipe.recent?.(prefixRange('/none/')) !== undefined);
    expect(pipe.recent?.(prefixRange('/none/'))).toEqual([]);
  });

  it('is known of thousands of keys, of the least asked for no longer', async () => {
    const { pipe, store } = await piped();
    const key = (i: number) => ({ start: `/ns/${i}`, end: `/ns/${i}\0` });
    for (let i = 0; i < 3000; i++) await store.create(`/ns/${i}`, bytes(`${i}`));
    for (let i = 0; i < 3000; i++) pipe.recent?.(key(i));
    for (let i = 0; i < 3000; i++) await until(() => pipe.recent?.(key(i)) !== undefined);
    for (let i = 0; i < 3000; i++) expect(pipe.recent?.(key(i))?.map(text)).toEqual([`${i}`]);
    await store.update('/ns/2999', bytes('new'), 3000);
    await until(() => pipe.revision === 3001);
    expect(pipe.recent?.(key(2999))?.map(text)).toEqual(['new']);
    for (let i = 3000; i < 6000; i++) pipe.recent?.(key(i));
    await until(() => pipe.recent?.(key(5999)) !== undefined);
    expect(pipe.recent?.(key(5999))).toEqual([]);
  });
});
