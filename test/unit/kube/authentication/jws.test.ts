import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkTimes, isSignedBy, keysOf, parseJws } from '../../../../kube/authentication/jws.ts';
import { type Signer, signer, token } from './tokens.ts';

const isGood = (text: string, keys: readonly Signer[]): boolean => {
  const jws = parseJws(text);
  return (
    jws !== undefined && keysOf({ keys: keys.map(({ jwk }) => jwk) }).some((key) => isSignedBy(jws, key))
  );
};
/** The same bytes: the last letter has four bits that belong to none. */
const respelled = (text: string) => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return text.slice(0, -1) + letters[letters.indexOf(text.at(-1) ?? '') + 1];
};
const rsa = signer('RS256', 'r');
const ec = signer('ES256', 'e');

test.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'])(
  '%s is verified with its own key alone',
  (alg) => {
    const [own, other] = [signer(alg, 'a'), signer(alg, 'a')];
    const good = token(own, { sub: 'x' });
    expect(isGood(good, [own])).toBe(true);
    expect(isGood(good, [other, own])).toBe(true);
    expect(isGood(good, [other])).toBe(false);
    expect(isGood(`${good.slice(0, -6)}AAAAAA`, [own])).toBe(false);
    const [head, , signature] = good.split('.');
    const forged = Buffer.from('{"sub":"y"}').toString('base64url');
    expect(isGood(`${head}.${forged}.${signature}`, [own])).toBe(false);
  },
);

test.each([
  ['another kid', token(rsa, {}, { kid: 'q' })],
  ['another algorithm of the same key', token({ ...rsa, alg: 'PS256' }, {}, { alg: 'RS256' })],
  ['no algorithm', token(rsa, {}, { alg: 'none' })],
  ['a shared key', token(rsa, {}, { alg: 'HS256' })],
  ['an algorithm of other keys', token(rsa, {}, { alg: 'ES256' })],
  ['a curve that is not the algorithm’s', token(ec, {}, { alg: 'ES384' })],
  ['an extension', token(rsa, {}, { crit: ['b64'], b64: false })],
  ['a signature in another spelling', `${token(rsa, {})}=`],
  ['a signature with bits that say nothing', respelled(token(rsa, {}))],
  ['no signature', token(rsa, {}).replace(/[^.]+$/, '')],
  ['four parts', `${token(rsa, {})}.x`],
  ['claims that are no object', token(rsa, [])],
  ['a body of megabytes', token(rsa, { a: 'x'.repeat(100_000) })],
])('a token with %s is nobody’s', (_what, text) => {
  expect(isGood(text, [rsa, ec])).toBe(false);
});

test('a public key is no shared secret', () => {
  const pem = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const [head, body] = token(rsa, {}, { alg: 'HS256' }).split('.');
  const mac = createHmac('sha256', pem).update(`${head}.${body}`).digest('base64url');
  expect(isGood(`${head}.${body}.${mac}`, [rsa])).toBe(false);
});

test('a token without a kid may be of any key; a key may say its algorithm', () => {
  expect(isGood(token(rsa, {}, { kid: undefined }), [ec, rsa])).toBe(true);
  expect(isGood(token(rsa, {}), [{ ...rsa, jwk: { ...rsa.jwk, alg: 'PS256' } }])).toBe(false);
});

test.each([
  ['not an object', 'x'],
  ['shared keys', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
  ['keys to encrypt', { keys: [{ ...rsa.jwk, use: 'enc' }] }],
  ['broken keys', { keys: [{ kty: 'RSA', n: '', e: '' }, null, 1] }],
])('%s have no key', (_what, set) => {
  expect(keysOf(set)).toEqual([]);
});

const now = 1_000_000_000_000;
const seconds = now / 1000;

test.each([
  [{ aud: 'us', exp: seconds + 1 }, undefined],
  [{ aud: ['others', 'us'], exp: seconds + 1, nbf: seconds + 59 }, undefined],
  [{ aud: 'others', exp: seconds + 1 }, 'expected audience in ["us"]'],
  [{ exp: seconds + 1 }, 'expected audience in ["us"]'],
  [{ aud: 'us', exp: seconds }, 'token is expired'],
  [{ aud: 'us' }, 'token is expired'],
  [{ aud: 'us', exp: String(seconds + 9) }, 'token is expired'],
  [{ aud: 'us', exp: seconds + 9, nbf: seconds + 61 }, 'token is not valid yet'],
  [{ aud: 'us', exp: seconds + 9, nbf: 'soon' }, 'token is not valid yet'],
])('%j: %s', (claims, why) => {
  const check = () => checkTimes(claims, ['us'], now);
  if (why === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(why);
});
