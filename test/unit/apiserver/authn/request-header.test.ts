import { expect, test } from 'vitest';
import { requestHeaderAuthenticator } from '../../../../apiserver/authn/request-header.ts';
import type { Peer } from '../../../../apiserver/plugins.ts';

const given = {
  allowedNames: ['front'],
  username: ['X-Remote-User', 'X-User'],
  uid: ['X-Remote-Uid'],
  group: ['X-Remote-Group'],
  extraPrefix: ['X-Remote-Extra-'],
};
const all = {
  'x-remote-user': 'ann',
  'x-remote-uid': '7',
  'x-remote-group': 'dev, cn=a, ou=system:masters',
  'x-remote-extra-example.com%2fteam': 'blue',
  accept: '*/*',
};
const distinct = { 'x-remote-group': ['dev', 'cn=a, ou=system:masters'] };
const ask = (headers: Record<string, string>, peer: Peer, more: object = {}) => {
  const request = { method: 'GET', url: '/', headers: { ...headers }, distinct };
  const user = requestHeaderAuthenticator({ ...given, ...more })(request, peer, 'root');
  return { user, headers: request.headers };
};

test('a proxy says for whom it speaks, and the headers go no further', () => {
  expect(ask(all, { proxy: 'front' })).toEqual({
    user: {
      name: 'ann',
      uid: '7',
      groups: distinct['x-remote-group'],
      extra: { 'example.com/team': ['blue'] },
    },
    headers: { accept: '*/*' },
  });
  expect(ask({ 'x-user': 'bob' }, { proxy: 'front' }).user).toMatchObject({ name: 'bob' });
  expect(ask(all, { proxy: 'other' }, { allowedNames: [] }).user).toMatchObject({ name: 'ann' });
});

test.each<[string, Record<string, string>, Peer]>([
  ['nobody', all, {}],
  ['a user with a certificate', all, { certificate: { subject: { CN: 'front' } as never } }],
  ['another proxy', all, { proxy: 'other' }],
  ['a proxy whose certificate has expired', all, { proxy: 'front', proxyUntil: Date.parse('2020-01-01') }],
  ['a proxy whose certificate does not say', all, { proxy: 'front', proxyUntil: Number.NaN }],
  ['a proxy that says nobody', { ...all, 'x-remote-user': '' }, { proxy: 'front' }],
  [
    'a proxy for an account of nowhere',
    { ...all, 'x-remote-user': 'system:serviceaccount:a:b' },
    { proxy: 'front' },
  ],
  ['a name with other signs', { x_remote_user: 'ann' }, { proxy: 'front' }],
])('%s is believed nothing', (_what, headers, peer) => {
  const { user, headers: left } = ask(headers, peer);
  expect(user).toBeUndefined();
  expect(Object.keys(left).filter((name) => name.startsWith('x-'))).toEqual([]);
});

test('an account is one of the logical cluster that is said', () => {
  const extra = { 'x-remote-extra-authentication.kcp.io/cluster-name': 'c1' };
  const { user } = ask({ 'x-remote-user': 'system:serviceaccount:a:b', ...extra }, { proxy: 'front' });
  expect(user).toMatchObject({ extra: { 'authentication.kcp.io/cluster-name': ['c1'] } });
});
