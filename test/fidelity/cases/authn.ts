import type { Case, Names } from '../case.ts';
import { issuers } from '../issuer.ts';
import { accountCases } from './accounts.ts';
import { silent } from './roles.ts';
import { bearer, caseOf, isKnown, known, review, reviews } from './tokens.ts';

export function authnCases(): Case[] {
  return [...issued(), ...signed(), ...bootstrap(), ...credentials(), ...accountCases()];
}

/** Each is asked about, and used; kube-apiserver comes to know an issuer some time after it started. */
function asked(
  id: string,
  issuer: string,
  good: object,
  rows: Readonly<Record<string, object>>,
  user: string,
): Case[] {
  return Object.entries(rows).map(([what, claims]) =>
    caseOf(`${id}/${what}`, (names) => [
      ...known(names, user),
      () => ({ ...silent(review({ token: issuers().token(issuer, good) })), until: isKnown }),
      () => review({ token: issuers().token(issuer, { ...good, ...claims }) }),
      () => bearer(issuers().token(issuer, { ...good, ...claims })),
      () =>
        bearer(issuers().token(issuer, { ...good, ...claims }), {
          method: 'GET',
          path: `/api/v1/namespaces/${names.ns}/configmaps/none`,
        }),
    ]),
  );
}

const seconds = () => Math.floor(Date.now() / 1000);

function issued(): Case[] {
  const plain = {
    good: {},
    groups: { groups: ['a', 'b'] },
    'one-group': { groups: 'a' },
    'empty-group': { groups: [''] },
    'no-groups': { groups: [] },
    'null-groups': { groups: null },
    'number-groups': { groups: [1] },
    'object-groups': { groups: { a: 1 } },
    'no-name': { sub: undefined },
    'number-name': { sub: 7 },
    audiences: { aud: ['other', 'one'] },
    'other-audience': { aud: 'other' },
    'no-audience': { aud: undefined },
    expired: { exp: 1_000_000_000 },
    'no-expiry': { exp: undefined },
    'not-yet': { nbf: seconds() + 4000 },
    'nearly-yet': { nbf: seconds() + 30 },
    'named-token': { jti: 'x1' },
    'other-issuer': { iss: 'https://127.0.0.1:1' },
    'own-issuer': { iss: 'https://kubernetes.default.svc' },
    'elsewhere-groups': {
      _claim_names: { groups: 's' },
      _claim_sources: { s: { endpoint: 'https://127.0.0.1:1/groups' } },
    },
  };
  const strict = {
    good: {},
    'second-audience': { aud: 'two' },
    'third-audience': { aud: 'three' },
    'other-team': { team: 'red' },
    'no-team': { team: undefined },
    'number-team': { team: 7 },
    verified: { email_verified: true },
    unverified: { email_verified: false },
    'odd-verified': { email_verified: 'true' },
    role: { role: 'dev' },
    roles: { role: ['dev', 'ops'] },
    'no-oid': { oid: undefined },
    'number-oid': { oid: 7 },
  };
  const cel = {
    good: {},
    'other-domain': { hd: 'example.org' },
    'no-domain': { hd: undefined },
    'too-long': { exp: seconds() + 90_000 },
    roles: { roles: ['dev', '', 'ops'] },
    'one-role': { roles: 'dev' },
    'number-roles': { roles: [1] },
    'no-roles': { roles: [] },
    oid: { oid: 7 },
    'text-oid': { oid: 'x' },
    tenant: { tenant: 'a' },
    tenants: { tenant: ['a', 'b'] },
    'many-tenants': { tenant: ['a', 'b', 'c'] },
    deep: { deep: { 'a.b': ['x', 'y'] } },
    shallow: { deep: {} },
    evil: { sub: 'evil' },
    'reserved-group': { roles: ['reserved:a'] },
    'number-name': { sub: 7 },
  };
  const email = { email: 'ann@example.com', team: 'blue', oid: '7' };
  return [
    ...asked('plain', 'plain', { sub: 'ann' }, plain, 'oidc:ann'),
    ...asked('strict', 'strict', email, strict, 'ann@example.com'),
    ...asked('cel', 'cel', { sub: 'ann', hd: 'example.com' }, cel, 'cel:ann'),
    ...asked('discovered', 'discovered', { sub: 'ann' }, { good: {}, groups: { groups: ['a'] } }, 'oidc:ann'),
    ...asked(
      'system',
      'cel',
      { sub: 'ann', hd: 'example.com' },
      { group: { roles: ['system:masters'] } },
      'cel:ann',
    ),
  ];
}

/** By other keys, or in another form. */
function signed(): Case[] {
  const good = { sub: 'ann' };
  const rows: Readonly<Record<string, () => string>> = {
    PS512: () => issuers().token('plain', good, issuers().keys['PS512']),
    ES256: () => issuers().token('plain', good, issuers().keys['ES256']),
    ES384: () => issuers().token('plain', good, issuers().keys['ES384']),
    'no-kid': () => issuers().token('plain', good, undefined, { kid: undefined }),
    'other-kid': () => issuers().token('plain', good, undefined, { kid: 'other' }),
    none: () => issuers().token('plain', good, undefined, { alg: 'none' }),
    HS256: () => issuers().token('plain', good, undefined, { alg: 'HS256' }),
    'wrong-curve': () => issuers().token('plain', good, issuers().keys['ES256'], { alg: 'ES384' }),
    cut: () => issuers().token('plain', good).slice(0, -8),
    'two-parts': () => issuers().token('plain', good).split('.').slice(0, 2).join('.'),
    'four-parts': () => `${issuers().token('plain', good)}.x`,
    'forged-claims': () => {
      const [head, , signature] = issuers().token('plain', good).split('.');
      const [, body] = issuers().token('plain', { sub: 'root' }).split('.');
      return [head, body, signature].join('.');
    },
    padded: () => `${issuers().token('plain', good)}=`,
  };
  return Object.entries(rows).map(([what, make]) =>
    caseOf(`signed/${what}`, (names) => [
      ...known(names, 'oidc:ann'),
      () => ({ ...silent(review({ token: issuers().token('plain', good) })), until: isKnown }),
      () => review({ token: make() }),
      () => bearer(make()),
    ]),
  );
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

function bootstrap(): Case[] {
  const secret = '0123456789abcdef';
  const rows: Readonly<
    Record<string, { data?: Record<string, string | undefined>; type?: string; token?: string }>
  > = {
    good: {},
    groups: { data: { 'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a' } },
    'other-groups': { data: { 'auth-extra-groups': 'system:masters' } },
    'spaced-groups': { data: { 'auth-extra-groups': 'system:bootstrappers:b, system:bootstrappers:a' } },
    'other-use': { data: { 'usage-bootstrap-authentication': 'false' } },
    'no-use': { data: { 'usage-bootstrap-authentication': undefined } },
    expired: { data: { expiration: '2020-01-01T00:00:00Z' } },
    lasting: { data: { expiration: '2999-01-01T00:00:00+02:00' } },
    'odd-expiry': { data: { expiration: '2999' } },
    'other-secret': { token: 'fedcba9876543210' },
    'short-secret': { token: 'fedcba' },
    'other-id': { data: { 'token-id': 'zzzzzz' } },
    opaque: { type: 'Opaque' },
  };
  return Object.entries(rows).map(([what, { data = {}, type, token = secret }]) =>
    caseOf(`bootstrap/${what}`, ({ ns, name }) => {
      const own: Record<string, string | undefined> = {
        'token-id': name,
        'token-secret': secret,
        'usage-bootstrap-authentication': 'true',
        ...data,
      };
      const pairs = Object.entries(own).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, base64(value)]],
      );
      const body = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `bootstrap-token-${name}` },
        type: type ?? 'bootstrap.kubernetes.io/token',
        data: Object.fromEntries(pairs),
      };
      const user = { ns, name } as Names;
      return [
        ...known(user, `system:bootstrap:${name}`),
        silent({ method: 'POST', path: '/api/v1/namespaces/kube-system/secrets', body }),
        { ...review({ token: `${name}.${token}` }), ...(what === 'good' && { until: isKnown }) },
        bearer(`${name}.${token}`),
        {
          method: 'DELETE',
          path: `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${name}`,
          silent: true,
        },
      ];
    }),
  );
}

/** Requests that show none, or what is none. */
function credentials(): Case[] {
  const get = { method: 'GET', path: '/api/v1/namespaces' };
  const rows: Readonly<Record<string, string>> = {
    none: 'Bearer none',
    empty: 'Bearer ',
    basic: 'Basic YTpi',
    word: 'secret',
    lower: 'bearer none',
    two: 'Bearer a b',
    dots: 'Bearer a.b.c',
    json: 'Bearer {"a":1}',
    account: `Bearer ${base64('{"alg":"ES256"}')}.e30.AAAA`,
  };
  return [
    ...Object.entries(rows).map(([what, authorization]) =>
      caseOf(`credentials/${what}`, () => [
        { ...get, bare: true, headers: { authorization } },
        { method: 'GET', path: '/version', bare: true, headers: { authorization } },
        { ...bearer('', {}), headers: { authorization } },
      ]),
    ),
    caseOf('review/forms', () => [
      review({}),
      review({ token: '' }),
      review({ token: 'none' }),
      review({ token: 'none', audiences: ['a'] }),
      review({ token: 'none', audiences: [] }),
      review({ token: 'none' }, { status: { authenticated: true, user: { username: 'root' } } }),
      review({ token: 'none' }, { metadata: { name: 'x', labels: { a: 'b' } } }),
      review({ token: 1 }),
      { ...review({ token: 'none' }), path: `${reviews}?dryRun=All` },
      { ...review({ token: 'none' }), path: `${reviews}?fieldValidation=Strict` },
      { method: 'GET', path: reviews },
      { method: 'PUT', path: `${reviews}/x`, body: {} },
      { ...review({ token: 'none' }), body: { apiVersion: 'v1', kind: 'TokenReview' } },
    ]),
  ];
}
