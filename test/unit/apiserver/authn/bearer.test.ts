import { expect, test } from 'vitest';
import { bearerOf, bearerProtocol, digestOf } from '../../../../apiserver/authn/bearer.ts';
import { tokenAuthenticator } from '../../../../apiserver/authn/token.ts';

const long = 'x'.repeat(10_000);

test.for<[string, string[]]>([
  ['the same again', ['a', 'a']],
  ['another of the same length', ['a', 'b', 'a']],
  ['one that begins as the last did', ['ab', 'a', 'ab', 'abc']],
  ['too long to be kept', [long, long, `${long}y`]],
  // As bytes of Latin-1 these two are the same.
  ['not of ASCII', ['é', 'ũ', 'é', 'éa', 'aaa']],
])('a connection is whoever it shows each time: %s', ([, tokens]) => {
  const peer = {};
  for (const token of tokens)
    expect(bearerOf({ headers: { authorization: `Bearer ${token}` } }, peer)).toEqual({
      token,
      digest: digestOf(token),
    });
});

test('who shows nothing after somebody did on the same connection is nobody', () => {
  const peer = {};
  const authenticator = tokenAuthenticator(new Map([['secret', { name: 'ann', groups: [] }]]));
  const ask = (headers: Record<string, string>) =>
    authenticator({ method: 'GET', url: '/', headers }, peer, '');
  expect(ask({ authorization: 'Bearer secret' })).toMatchObject({ name: 'ann' });
  expect(ask({})).toBeUndefined();
  expect(ask({ authorization: 'Basic secret' })).toBeUndefined();
  expect(ask({ authorization: 'bearer  secret ' })).toMatchObject({ name: 'ann' });
  expect(ask({ authorization: '' })).toBeUndefined();
  const encoded = Buffer.from('secret').toString('base64url');
  expect(ask({ 'sec-websocket-protocol': `${bearerProtocol}${encoded}` })).toMatchObject({ name: 'ann' });
  expect(ask({ 'sec-websocket-protocol': `${bearerProtocol}eA` })).toBeUndefined();
});
