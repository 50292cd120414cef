import { generateKeyPairSync } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { type SigningKey, TokenKeys } from '../../../../apiserver/authn/keys.ts';

const key = (from: number): SigningKey => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), from };
};
const [former, due, later] = [key(0), key(1), key(Date.now() + 3_600_000)];
const kids = async (keys: TokenKeys) => (await keys.publicKeys()).map(({ kid }) => kid);

test('the newest that is due signs; those before and after it verify and are shown', async () => {
  const keys = new TokenKeys([former, later, due]);
  const signer = (await kids(new TokenKeys([due])))[0];
  expect((await kids(keys))[0]).toBe(signer);
  expect(await kids(keys)).toHaveLength(3);
  for (const one of [former, due, later]) {
    const token = await new TokenKeys([one]).sign({ sub: 'a' });
    expect(await keys.verify(token)).toEqual({ sub: 'a' });
  }
});

test('a key that is not there verifies nothing, nor does another algorithm', async () => {
  const keys = new TokenKeys([former]);
  const token = await new TokenKeys([due]).sign({ sub: 'a' });
  expect(await keys.verify(token)).toBeUndefined();
  const [, body = '', signature = ''] = (await keys.sign({ sub: 'a' })).split('.');
  const kid = (await kids(keys))[0];
  for (const alg of ['none', 'HS256', 'RS256', undefined]) {
    const head = Buffer.from(JSON.stringify({ alg, kid })).toString('base64url');
    expect(await keys.verify(`${head}.${body}.${signature}`)).toBeUndefined();
    expect(await keys.verify(`${head}.${body}.`)).toBeUndefined();
  }
});

test('a token has one spelling: nothing in it is changed and means the same', async () => {
  const keys = new TokenKeys([former]);
  const token = await keys.sign({ sub: 'a' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. '];
  for (let i = 0; i < token.length; i += i < token.length - 3 ? 7 : 1) {
    for (const letter of letters.filter((one) => one !== token[i])) {
      const other = `${token.slice(0, i)}${letter}${token.slice(i + 1)}`;
      expect([other, await keys.verify(other)]).toEqual([other, undefined]);
    }
  }
  for (const end of ['=', '==', 'A', '\n']) expect(await keys.verify(`${token}${end}`)).toBeUndefined();
  expect(await keys.verify(token)).toEqual({ sub: 'a' });
});

function wait(ms: number): void {
  const now = performance.now() + ms;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
}

test.each([-86_400_000, 86_400_000])(
  'a key that is dropped counts no more, though the clock is set by %d ms',
  async (ms) => {
    let now = [former, due];
    const keys = new TokenKeys(now, async () => now);
    const token = await new TokenKeys([former]).sign({ sub: 'a' });
    expect(await keys.verify(token)).toBeDefined();
    now = [due];
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
    wait(10_000);
    await keys.verify(token);
    await keys.publicKeys();
    expect(await keys.verify(token)).toBeUndefined();
    vi.restoreAllMocks();
    vi.useRealTimers();
  },
);

test('what was verified is known for a while, and no longer when its key is dropped', async () => {
  let now = [former, due];
  const keys = new TokenKeys(now, async () => now);
  const token = await new TokenKeys([former]).sign({ sub: 'a' });
  expect(await keys.verify(token)).toBe(await keys.verify(token));
  now = [due];
  wait(10_000);
  await keys.publicKeys();
  vi.restoreAllMocks();
  expect(await keys.verify(token)).toBeUndefined();
});

test('of several who come with a key that is not known, all wait until it is', async () => {
  let reads = 0;
  const keys = new TokenKeys([former], async () => {
    reads++;
    return [former, due];
  });
  const token = await new TokenKeys([due]).sign({ sub: 'a' });
  wait(100);
  const both = [keys.verify(token), keys.verify(token)];
  vi.restoreAllMocks();
  expect(await Promise.all(both)).toEqual([{ sub: 'a' }, { sub: 'a' }]);
  expect(reads).toBe(1);
});
