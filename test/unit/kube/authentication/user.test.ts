import { expect, test } from 'vitest';
import type { JwtAuthenticator } from '../../../../kube/authentication/types.ts';
import { userFrom } from '../../../../kube/authentication/user.ts';

type More = Partial<Omit<JwtAuthenticator, 'claimMappings'>> & {
  claimMappings?: Partial<JwtAuthenticator['claimMappings']>;
};
const jwt = ({ claimMappings, ...more }: More = {}): JwtAuthenticator => ({
  issuer: { url: 'https://issuer', audiences: ['us'] },
  claimMappings: { username: { claim: 'sub', prefix: '' }, ...claimMappings },
  ...more,
});
const claims = {
  sub: 'ann',
  email: 'ann@example.com',
  email_verified: true,
  roles: ['dev', '', 'ops'],
  role: 'dev',
  exp: 7,
  'example.com/team': { 'k8s.io': ['blue'] },
};

test.each<[string, More, object]>([
  ['a claim', {}, { name: 'ann', groups: [] }],
  ['a prefix', { claimMappings: { username: { claim: 'sub', prefix: 'oidc:' } } }, { name: 'oidc:ann' }],
  [
    'an expression',
    { claimMappings: { username: { expression: 'claims.email.split("@")[0]' } } },
    { name: 'ann' },
  ],
  [
    'groups',
    { claimMappings: { groups: { claim: 'roles', prefix: 'g:' } } },
    { groups: ['g:dev', 'g:', 'g:ops'] },
  ],
  ['a group', { claimMappings: { groups: { claim: 'role', prefix: '' } } }, { groups: ['dev'] }],
  ['no groups', { claimMappings: { groups: { claim: 'none', prefix: '' } } }, { groups: [] }],
  [
    'an expression of groups',
    { claimMappings: { groups: { expression: 'claims.roles' } } },
    { groups: ['dev', 'ops'] },
  ],
  [
    'a missing claim',
    { claimMappings: { groups: { expression: 'claims.?none.orValue([])' } } },
    { groups: [] },
  ],
  ['a uid', { claimMappings: { uid: { claim: 'role' } } }, { uid: 'dev' }],
  [
    'more',
    { claimMappings: { extra: [{ key: 'example.com/role', valueExpression: 'claims.role' }] } },
    { extra: { 'example.com/role': ['dev'] } },
  ],
  [
    'names that are escaped',
    { claimMappings: { uid: { expression: 'claims.example__dot__com__slash__team.k8s__dot__io[0]' } } },
    { uid: 'blue' },
  ],
  ['a number', { claimMappings: { uid: { expression: 'string(int(claims.exp))' } } }, { uid: '7' }],
  ['a rule', { claimValidationRules: [{ claim: 'role', requiredValue: 'dev' }] }, { name: 'ann' }],
  ['an expression that holds', { claimValidationRules: [{ expression: 'claims.exp > 6' }] }, { name: 'ann' }],
  [
    'a rule about the user',
    {
      userValidationRules: [
        { expression: "!user.username.startsWith('system:') && user.groups.size() == 0" },
      ],
    },
    { name: 'ann' },
  ],
])('%s', (_what, more, user) => {
  expect(userFrom(claims, jwt(more))).toMatchObject(user);
});

test('the token is named, if it has a name', () => {
  expect(userFrom({ ...claims, jti: 'x' }, jwt()).extra).toEqual({
    'authentication.kubernetes.io/credential-id': ['JTI=x'],
  });
});

const username = (expression: string): More => ({ claimMappings: { username: { expression } } });
const scopes = (valueExpression: string): More => ({
  claimMappings: { extra: [{ key: 'authentication.kcp.io/scopes', valueExpression }] },
});

test.each<[string, object, More, string]>([
  ['a claim that is missing', {}, { claimMappings: { username: { claim: 'x', prefix: '' } } }, 'not present'],
  ['one that is no string', { sub: 1 }, {}, 'is no string'],
  ['one that is empty', { sub: '' }, {}, 'empty username'],
  ['an expression that fails', {}, username('claims.none'), 'no such key: none'],
  ['one that is no string', {}, username('claims.exp'), 'must return a string'],
  ['a name of the system', { sub: 'system:admin' }, {}, "is the system's"],
  [
    'a prefix that makes one',
    { sub: 'm:a' },
    { claimMappings: { username: { claim: 'sub', prefix: 'syste' } } },
    "is the system's",
  ],
  [
    'a group of the system',
    { role: 'system:masters' },
    { claimMappings: { groups: { claim: 'role', prefix: '' } } },
    "is the system's",
  ],
  [
    'a group that is said',
    {},
    { claimMappings: { groups: { expression: "'system:masters'" } } },
    "is the system's",
  ],
  [
    'an address nobody verified',
    { email_verified: false },
    { claimMappings: { username: { claim: 'email', prefix: '' } } },
    'not verified',
  ],
  [
    'groups of numbers',
    { roles: [1] },
    { claimMappings: { groups: { claim: 'roles', prefix: '' } } },
    'neither a string',
  ],
  [
    'groups elsewhere',
    { _claim_names: { groups: 'a' } },
    { claimMappings: { groups: { claim: 'groups', prefix: '' } } },
    'distributed',
  ],
  [
    'another value',
    { role: 'ops' },
    { claimValidationRules: [{ claim: 'role', requiredValue: 'dev' }] },
    'does not match',
  ],
  [
    'a rule that fails',
    {},
    { claimValidationRules: [{ expression: 'claims.exp > 7', message: 'old' }] },
    'failed: old',
  ],
  [
    'a rule about the user',
    {},
    { userValidationRules: [{ expression: "user.username == 'bob'" }] },
    'failed',
  ],
  [
    'an expression without an end',
    {},
    username('["a"].map(a, ["b"].map(b, claims.big.map(c, claims.big.map(d, claims.big.map(e, e)))))[0][0]'),
    'cost',
  ],
  ['no logical cluster', { tenants: [] }, scopes('claims.tenants'), 'of nothing'],
])('%s proves nobody', (_what, more, config, why) => {
  const big = Array.from({ length: 1000 }, () => 'x');
  expect(() => userFrom({ ...claims, big, ...more }, jwt(config))).toThrow(why);
});

test('an issuer may be of some logical clusters alone', () => {
  const { extra } = userFrom(
    { ...claims, tenants: ['a'] },
    jwt(scopes("claims.tenants.map(t, 'cluster:' + t)")),
  );
  expect(extra).toEqual({ 'authentication.kcp.io/scopes': ['cluster:a'] });
});
