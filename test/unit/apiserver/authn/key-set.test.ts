import { expect, test } from 'vitest';
import { KeySet } from '../../../../apiserver/authn/oidc/key-set.ts';
import { Remembered } from '../../../../apiserver/authn/remembered.ts';
import { type Jws, parseJws } from '../../../../kube/authentication/jws.ts';
import { signer, token } from '../../kube/authentication/tokens.ts';

const url = 'https://issuer';
const jwks = `${url}/keys`;
const first = signer('ES256', 'first');
const second = signer('ES256', 'second');
const by = (one: typeof first) => parseJws(token(one, {})) as Jws;

function world() {
  const asked: string[] = [];
  let now = 0;
  const state = {
    keys: [first.jwk] as object[],
    down: false,
    document: { issuer: url, jwks_uri: jwks } as object,
  };
  const fetch = async (at: string) => {
    asked.push(at);
    if (state.down) throw new Error('down');
    return at === jwks ? { keys: state.keys } : state.document;
  };
  const set = new KeySet({ url, audiences: ['us'] }, fetch, () => now);
  return { asked, state, set, pass: (ms: number) => (now += ms) };
}

test('keys are fetched when they are needed, once for all who wait, and again for one that is not known', async () => {
  const { asked, state, set, pass } = world();
  expect(asked).toEqual([]);
  await Promise.all([set.check(by(first)), set.check(by(first))]);
  expect(asked).toEqual([`${url}/.well-known/openid-configuration`, jwks]);
  state.keys = [first.jwk, second.jwk];
  await expect(set.check(by(second))).rejects.toThrow('failed to verify signature');
  expect(asked).toHaveLength(2);
  pass(5000);
  await set.check(by(second));
  expect(asked).toEqual([`${url}/.well-known/openid-configuration`, jwks, jwks]);
});

test('while the issuer is down, what is known is enough; what is not is refused, without asking each time', async () => {
  const { asked, state, set, pass } = world();
  await set.check(by(first));
  state.down = true;
  pass(5000);
  for (let i = 0; i < 3; i++) await expect(set.check(by(second))).rejects.toThrow('cannot be fetched: down');
  expect(asked).toHaveLength(3);
  await set.check(by(first));
});

test.each([
  [{ issuer: 'https://other', jwks_uri: jwks }, 'issuer did not match'],
  [{ issuer: url }, 'did not return JWKS URL'],
  [[], 'issuer did not match'],
])('%j is no discovery', async (document, why) => {
  const { state, set } = world();
  state.document = document;
  await expect(set.check(by(first))).rejects.toThrow(why);
});

test('nothing is remembered for longer because the clock was set back', () => {
  let [now, passed] = [0, 0];
  const known = new Remembered<number>(
    () => now,
    () => passed,
  );
  known.put('a', 1, 1000);
  now = -3_600_000;
  passed = 999;
  expect(known.get('a')).toBe(1);
  passed = 1000;
  expect(known.get('a')).toBeUndefined();
});

test('what was proved is remembered for so long, and never more than so much', () => {
  let now = 0;
  const known = new Remembered<number>(() => now);
  known.put('a', 1, 1000);
  known.put('b', 2, 1000, 10);
  expect([known.get('a'), known.get('b')]).toEqual([1, 2]);
  now = 10;
  expect([known.get('a'), known.get('b')]).toEqual([1, undefined]);
  known.put('l'.repeat(9_000), 3, 1000);
  expect(known.get('l'.repeat(9_000))).toBeUndefined();
  for (let i = 0; i < 10_000; i++) known.put(`t${i}`, i, 1000);
  expect([known.get('a'), known.get('t9999')]).toEqual([undefined, 9999]);
});
