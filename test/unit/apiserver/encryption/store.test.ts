import { afterEach, beforeEach, expect, test } from 'vitest';
import { Rules } from '../../../../apiserver/encryption/rules.ts';
import { encryptedStore } from '../../../../apiserver/encryption/store.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import { prefixRange, type Store } from '../../../../storage/store.ts';
import { eventually } from '../../../eventually.ts';

const rulesOf = (...fills: number[]) => {
  const keys = fills.map((fill) => ({ name: `k${fill}`, secret: Buffer.alloc(32, fill).toString('base64') }));
  return new Rules({ resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }] }] });
};
const at = '/core/secrets/root/default/a';
const bytes = (text: string) => Buffer.from(text);

let store: Store;
let stop: AbortController;
beforeEach(() => {
  [store, stop] = [openMemory(), new AbortController()];
});
afterEach(async () => {
  stop.abort();
  await store.close();
});

/** What a server with the rules of the moment hears of a range. */
async function heard(range: { start: string; end: string }, rules: () => Rules) {
  const [values, ends, lost]: [string[], string[], string[]] = [[], [], []];
  await encryptedStore(store, rules, (key) => lost.push(key)).watch(range, {
    after: store.revision,
    signal: stop.signal,
    sink: (events) => values.push(...events.map(({ entry }) => Buffer.from(entry.value).toString())),
    onEnd: (error) => ends.push(error?.code ?? ''),
  });
  return { values, ends, lost };
}

test('a watch over several kinds passes over what it cannot read, says so, and ends when it has another key', async () => {
  let rules = rulesOf(1);
  const { values, ends, lost } = await heard(prefixRange('/'), () => rules);
  const writer = encryptedStore(store, () => rulesOf(2, 1));
  await writer.create(at, bytes('first'));
  await writer.create('/core/configmaps/root/default/b', bytes('second'));
  await eventually(() => expect([values, lost, ends]).toEqual([['second'], [at], []]));
  rules = rulesOf(2, 1);
  await writer.create('/core/configmaps/root/default/c', bytes('third'));
  await eventually(() => expect(ends).toEqual(['compacted']));
});

test('a watch that read all goes on with another key', async () => {
  let rules = rulesOf(1);
  const { values, ends } = await heard(prefixRange('/'), () => rules);
  const writer = encryptedStore(store, () => rules);
  await writer.create(at, bytes('first'));
  rules = rulesOf(2, 1);
  await writer.create(`${at}b`, bytes('second'));
  await eventually(() => expect([values, ends]).toEqual([['first', 'second'], []]));
});

test('a watch or a list of the kind that would show it fails, of whichever logical clusters', async () => {
  const range = prefixRange('/core/secrets/');
  const { ends } = await heard(range, () => rulesOf(1));
  await encryptedStore(store, () => rulesOf(2)).create(at, bytes('first'));
  await eventually(() => expect(ends).toEqual(['corrupt']));
  await expect(encryptedStore(store, () => rulesOf(1)).list(range)).rejects.toMatchObject({
    code: 'corrupt',
  });
});
