import { describe, expect, it } from 'vitest';
import { recentList } from '../../../../apiserver/registry/recent.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { prefixRange, type Store } from '../../../../storage/store.ts';
import { bytes, text } from '../../../contract/store.ts';
import { until } from '../../../contract/until.ts';
import { piped } from './piped.ts';

/** As of an etcd that was restored from a backup under running servers: watches end, and another history begins. */
async function setBack() {
  let current = openMemory();
  const store = new Proxy({} as Store, {
    get: (_, name) => {
      const found = Reflect.get(current, name, current) as unknown;
      return typeof found === 'function' ? found.bind(current) : found;
    },
  });
  const { pipe } = await piped(store);
  await pipe.create('/a', bytes('of before'));
  for (let i = 0; i < 9; i++) await pipe.create(`/b${i}`, bytes('of before'));
  await until(() => pipe.revision === 10);
  const restored = openMemory();
  await restored.create('/a', bytes('restored'));
  const former = current;
  current = restored;
  await former.close();
  return { pipe, store };
}

describe('a store that went back', () => {
  it('is at the revision that it went back to, at the other end of a pipe too', async () => {
    const { pipe, store } = await setBack();
    await until(() => pipe.revision === store.revision);
    expect((await pipe.list(prefixRange('/'), { revision: pipe.revision })).entries).toHaveLength(1);
  });

  it('has nothing of the history that is lost', async () => {
    const { pipe } = await setBack();
    await until(() => pipe.revision === 1);
    expect(pipe.seen?.('/a')).toBeUndefined();
    await pipe.get('/a');
    expect(text(pipe.seen?.('/a'))).toBe('restored');
  });

  it('answers what every request asks for before that is heard', async () => {
    const store = openMemory();
    const entry = await store.create('/a', bytes('restored'));
    const behind = { ...({} as Store), revision: 10, list: store.list.bind(store) };
    expect(await recentList(behind, prefixRange('/'))).toEqual([entry]);
  });
});
