import type { Answer, Case, Request } from '../case.ts';
import { silent } from './roles.ts';
import { bearer, caseOf, isKnown, known, review } from './tokens.ts';

const path = (ns: string, account: string) => `/api/v1/namespaces/${ns}/serviceaccounts/${account}/token`;

function request(ns: string, spec: object, more: object = {}, account = 'robot'): Request {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec, ...more };
  return { method: 'POST', path: path(ns, account), body };
}

const account = (ns: string, name = 'robot'): Request =>
  silent({
    method: 'POST',
    path: `/api/v1/namespaces/${ns}/serviceaccounts`,
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
  });

const tokenIn = (answer: Answer | undefined): string => answer?.json['status']?.['token'] ?? '';

/** Of ServiceAccounts: what may be asked for, whom it proves, and until when. */
export function accountCases(): Case[] {
  return [...requests(), ...uses(), ...bound(), ...secrets()];
}

function requests(): Case[] {
  const specs: Readonly<Record<string, object>> = {
    nothing: {},
    audience: { audiences: ['a'] },
    audiences: { audiences: ['a', 'https://kubernetes.default.svc'] },
    'no-audience': { audiences: [] },
    'empty-audience': { audiences: [''] },
    'null-audience': { audiences: null },
    'ten-minutes': { expirationSeconds: 600 },
    'nine-minutes': { expirationSeconds: 599 },
    zero: { expirationSeconds: 0 },
    negative: { expirationSeconds: -1 },
    long: { expirationSeconds: 4294967296 },
    'too-long': { expirationSeconds: 4294967297 },
    'no-time': { expirationSeconds: null },
    text: { expirationSeconds: 'x' },
    'other-kind': { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'a' } },
    'other-group': { boundObjectRef: { kind: 'Pod', apiVersion: 'apps/v1', name: 'a' } },
    'no-kind': { boundObjectRef: { name: 'a' } },
    'no-pod': { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'none' } },
    'no-secret': { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'none' } },
    'no-node': { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'none' } },
    unknown: { surprise: true },
  };
  return [
    ...Object.entries(specs).map(([what, spec]) =>
      caseOf(`request/${what}`, ({ ns }) => [account(ns), request(ns, spec)]),
    ),
    caseOf('request/places', ({ ns }) => [
      account(ns),
      request(ns, {}, {}, 'none'),
      request(ns, {}, { metadata: { name: 'robot' } }),
      request(ns, {}, { metadata: { name: 'other' } }),
      request(ns, {}, { metadata: { namespace: 'other' } }),
      request(ns, {}, { metadata: { uid: '00000000-0000-4000-8000-000000000000' } }),
      request(ns, {}, { kind: 'TokenReview' }),
      { ...request(ns, {}), path: `${path(ns, 'robot')}?dryRun=All` },
      { ...request(ns, {}), path: `${path(ns, 'robot')}?fieldManager=me` },
      { ...request(ns, {}), body: {} },
      { ...request(ns, {}), body: '' },
      { method: 'GET', path: path(ns, 'robot') },
      { method: 'PUT', path: path(ns, 'robot'), body: {} },
      { method: 'DELETE', path: path(ns, 'robot') },
      request('none', {}),
    ]),
  ];
}

/** Of tokens for these audiences, asked for those. */
function uses(): Case[] {
  const own = 'https://kubernetes.default.svc';
  const rows: readonly [string, readonly string[], readonly string[] | undefined][] = [
    ['own', [], undefined],
    ['own-asked', [own], [own]],
    ['other', ['a'], undefined],
    ['other-asked', ['a'], ['a']],
    ['one-of', ['a', 'b'], ['b', 'c']],
    ['both', ['b', 'a'], ['a', 'b']],
    ['none-of', ['a'], ['b']],
    ['own-and-other', [own, 'a'], ['a', own]],
  ];
  return [
    ...rows.map(([what, audiences, asked]) =>
      caseOf(`audiences/${what}`, ({ ns }) => [
        account(ns),
        silent(request(ns, { audiences })),
        (seen) => review({ token: tokenIn(seen[1]), ...(asked && { audiences: asked }) }),
        (seen) => bearer(tokenIn(seen[1])),
        (seen) => bearer(tokenIn(seen[1]), { method: 'GET', path: `/api/v1/namespaces/${ns}/pods` }),
      ]),
    ),
    caseOf('accounts/gone', ({ ns }) => [
      account(ns),
      silent(request(ns, {})),
      (seen) => bearer(tokenIn(seen[1])),
      { method: 'DELETE', path: `/api/v1/namespaces/${ns}/serviceaccounts/robot`, silent: true },
      (seen) => ({ ...review({ token: tokenIn(seen[1]) }), until: (answer) => !isKnown(answer) }),
      account(ns),
      (seen) => review({ token: tokenIn(seen[1]) }),
      (seen) => bearer(tokenIn(seen[1])),
    ]),
    caseOf('accounts/roles', (names) => [
      ...known(names, `system:serviceaccount:${names.ns}:robot`),
      account(names.ns),
      silent(request(names.ns, {})),
      (seen) =>
        bearer(tokenIn(seen[3]), { method: 'GET', path: `/api/v1/namespaces/${names.ns}/configmaps/none` }),
      (seen) =>
        bearer(tokenIn(seen[3]), { method: 'GET', path: `/api/v1/namespaces/${names.ns}/secrets/none` }),
      (seen) => bearer(tokenIn(seen[3]), { method: 'GET', path: '/openid/v1/jwks', accept: '*/*' }),
      (seen) => bearer(tokenIn(seen[3]), { method: 'GET', path: '/.well-known/openid-configuration' }),
      (seen) => bearer(`${tokenIn(seen[3])}x`, { method: 'GET', path: '/api' }),
    ]),
  ];
}

/** What a token is bound to, by its plural and kind. */
function bound(): Case[] {
  const objects: Readonly<Record<string, object>> = {
    secrets: { kind: 'Secret', apiVersion: 'v1' },
    pods: {
      kind: 'Pod',
      apiVersion: 'v1',
      spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] },
    },
  };
  return Object.entries(objects).map(([resource, object]) =>
    caseOf(`bound/${resource}`, ({ ns }) => {
      const at = `/api/v1/namespaces/${ns}/${resource}`;
      const { kind } = object as { kind: string };
      const ref = { kind, apiVersion: 'v1', name: 'b' };
      return [
        account(ns),
        account(ns, 'other'),
        { method: 'POST', path: at, body: { ...object, metadata: { name: 'b' } }, silent: true },
        request(ns, { boundObjectRef: ref }),
        request(ns, { boundObjectRef: { ...ref, uid: '00000000-0000-4000-8000-000000000000' } }),
        request(ns, { boundObjectRef: ref }, {}, 'other'),
        (seen) => review({ token: tokenIn(seen[3]) }),
        (seen) => bearer(tokenIn(seen[3])),
        { method: 'DELETE', path: `${at}/b?gracePeriodSeconds=0`, silent: true },
        (seen) => ({ ...review({ token: tokenIn(seen[3]) }), until: (answer) => !isKnown(answer) }),
        (seen) => bearer(tokenIn(seen[3])),
      ];
    }),
  );
}

/** Without the controller that fills them. */
function secrets(): Case[] {
  const name = 'kubernetes.io/service-account.name';
  const rows: Readonly<Record<string, object>> = {
    named: { metadata: { name: 's', annotations: { [name]: 'robot' } } },
    unnamed: { metadata: { name: 's' } },
    empty: { metadata: { name: 's', annotations: { [name]: '' } } },
    filled: {
      metadata: { name: 's', annotations: { [name]: 'robot' } },
      data: { token: 'YQ==', namespace: 'YQ==' },
    },
  };
  const type = 'kubernetes.io/service-account-token';
  return Object.entries(rows).map(([what, body]) =>
    caseOf(`secrets/${what}`, ({ ns }) => {
      const at = `/api/v1/namespaces/${ns}/secrets`;
      const merge = { method: 'PATCH', path: `${at}/s`, contentType: 'application/merge-patch+json' };
      return [
        account(ns),
        { method: 'POST', path: at, body: { apiVersion: 'v1', kind: 'Secret', type, ...body } },
        { ...merge, body: { metadata: { annotations: { [name]: null } } } },
        { ...merge, body: { type: 'Opaque' } },
        { method: 'GET', path: `${at}?fieldSelector=type%3D${encodeURIComponent(type)}` },
      ];
    }),
  );
}
