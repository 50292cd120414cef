import type { Random } from '../random.ts';

type Words = readonly [string, ...string[]];

/** Names that are something, and what has led astray somebody's parser before. */
const names: Words = [
  'api',
  'apis',
  'v1',
  'apps',
  'v1alpha1',
  'clusters',
  'namespaces',
  'watch',
  'proxy',
  'open',
  'hidden',
  'planted',
  'secrets',
  'configmaps',
  'pods',
  'deployments',
  'clusterroles',
  'rbac.authorization.k8s.io',
  'core.kcp.io',
  'tenancy.kcp.io',
  'workspaces',
  'logicalclusters',
  'cluster',
  'atoll.dev',
  'placements',
  'physicalclusters',
  'root',
  'root:a',
  'root:b',
  'root:a:b',
  '*',
  'syncers',
  'east',
  'shares',
  'backup',
  'client-certificates',
  'service-account-keys',
  'metrics',
  'healthz',
  'version',
  'openapi',
  'v2',
  'v3',
  '.well-known',
  'openid-configuration',
  'openid',
  'jwks',
  'status',
  'scale',
  'log',
  'exec',
  'token',
  'binding',
  'eviction',
  'default',
  'kube-system',
  'atoll-system',
  'debug',
  'pprof',
  'a',
  'x',
];
const tricks: Words = [
  '',
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '%2f',
  '%2F',
  'a%2fb',
  '..%2f..',
  '%5c',
  '\\',
  '%00',
  '%0a',
  '%0d%0a',
  '%20',
  '%',
  '%%',
  '%zz',
  '%2',
  '%25',
  '%252f',
  '%252e%252e',
  '%c0%ae',
  '%c0%af',
  '%ff',
  '%ed%a0%80',
  '%f0%9f%92%a9',
  '%e2%80%a8',
  '%63lusters',
  'cluster%73',
  '%2a',
  '%3a',
  'root%3aa',
  'root%3Ab',
  'CLUSTERS',
  'Root:a',
  'root:',
  ':root',
  'root::a',
  'root:a/',
  '#',
  '?',
  ';',
  ';x=y',
  '&',
  '=',
  '+',
  '~',
  '!',
  '!internal',
  '%21internal',
  '$',
  '(',
  "'",
  '"',
  '<script>',
  '{}',
  '[]',
  '|',
  '^',
  '`',
  '@',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'null',
  'undefined',
  'NaN',
  '-1',
  '0',
  '\u0000',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '\u007f',
  '\u00e9',
  '\u202e',
  '\ufeff',
  '\uffff',
  '\ud800',
  'e\u0301',
  '\u{1f4a9}',
];
const queries: Words = [
  'watch=true',
  'watch=1',
  'watch=0',
  'watch',
  'limit=1',
  'limit=-1',
  'limit=9e99',
  'resourceVersion=0',
  'resourceVersion=1',
  'resourceVersion=99999999999999999999',
  'resourceVersion=-1',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'fieldSelector=metadata.name%3Dplanted',
  'fieldSelector=metadata.namespace%3Dhidden',
  'fieldSelector=%3D',
  'fieldSelector=a%3D%3Db,,',
  'labelSelector=planted',
  'labelSelector=a in (b',
  'labelSelector=%21%21',
  'labelSelector=x%3Dy,',
  'timeoutSeconds=1',
  'timeoutSeconds=-5',
  'allowWatchBookmarks=true',
  'sendInitialEvents=true',
  'continue=x',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi9iIn0',
  'pretty=true',
  'fieldManager=x',
  'fieldValidation=Strict',
  'propagationPolicy=x',
  'command=sh',
  'container=c',
  'follow=true',
  'kid=x',
];

/** Any text of a few letters. */
export function noise(random: Random, most = 6): string {
  let text = '';
  for (let i = random.between(0, most); i > 0; i--) {
    const top = random.pick([0x7f, 0x7f, 0x7f, 0x24f, 0xffff]);
    text += String.fromCharCode(random.below(top + 1));
  }
  return text;
}

/** A part of a path. */
export function segment(random: Random): string {
  if (random.chance(0.7)) return random.pick(names);
  if (random.chance(0.7)) return random.pick(tricks);
  if (random.chance(0.5)) return `${random.pick(names)}${random.pick(tricks)}`;
  if (random.chance(0.1)) return random.pick(names).repeat(random.pick([20, 60, 300]));
  return noise(random);
}

/** Somewhere, by and large where something is. */
export function url(random: Random): string {
  const parts: string[] = [];
  if (random.chance(0.5))
    parts.push(
      random.pick(['clusters', 'clusters', 'clusters', '%63lusters', '', 'Clusters']),
      segment(random),
    );
  const shape = random.below(4);
  if (shape === 0)
    parts.push('api', 'v1', 'namespaces', random.pick(['open', 'hidden', '..', '%2e%2e', '*']));
  else if (shape === 1)
    parts.push('apis', random.pick(['apps', 'rbac.authorization.k8s.io', 'own.example.com']), 'v1');
  else if (shape === 2) parts.push('api', 'v1');
  for (let i = random.between(0, 4); i > 0; i--) parts.push(segment(random));
  const end = random.pick(['', '', '', '/', '//', '/.', '/..']);
  return `/${parts.join('/')}${end}${query(random)}`;
}

function query(random: Random): string {
  const parts: string[] = [];
  for (let i = random.pick([0, 0, 0, 1, 1, 2, 4]); i > 0; i--) {
    parts.push(random.chance(0.85) ? random.pick(queries) : `${segment(random)}=${segment(random)}`);
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

export const methods: Words = [
  'GET',
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'get',
  'X',
];

/** Under which something could say to be somebody. */
const headerNames: Words = [
  'impersonate-user',
  'impersonate-group',
  'impersonate-uid',
  'impersonate-extra-authentication.kcp.io%2fscopes',
  'impersonate-',
  'impersonate-extra-',
  'impersonate-extra-%zz',
  'impersonate-extra-__proto__',
  'x-remote-user',
  'x-remote-group',
  'x-remote-uid',
  'x-remote-extra-authentication.kcp.io%2fcluster-name',
  'x_remote_user',
  'x-forwarded-user',
  'x-forwarded-for',
  'forwarded',
  'x-forwarded-client-cert',
  'x-ssl-client-verify',
  'x-client-cert',
  'x-original-url',
  'x-rewrite-url',
  'x-forwarded-prefix',
  'x-http-method-override',
  'x-atoll-user',
  'x-kcp-user',
  'cookie',
  'proxy-authorization',
  'www-authenticate',
  'authorization ',
  'x-authorization',
  'host',
  'origin',
  'sec-fetch-site',
  'referer',
  'accept',
  'content-type',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'expect',
  'range',
  'if-none-match',
  'accept-encoding',
  'content-encoding',
  'user-agent',
  '__proto__',
  'constructor',
];
const headerValues: Words = [
  'admin',
  'system:masters',
  'system:atoll:controllers',
  'system:atoll:syncer:east',
  'system:admin',
  'lead',
  'cluster:*',
  'root:b',
  '*',
  'Bearer x',
  'Basic YWRtaW46YWRtaW4=',
  'a, b',
  'a,b',
  ', ',
  '',
  ' ',
  'system:masters, x',
  'system:serviceaccount:kube-system:default',
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf',
  'application/yaml',
  '*/*',
  'x/y;;;=',
  'application/json;stream=watch',
  'chunked',
  'websocket',
  'Upgrade',
  'SPDY/3.1',
  'GET',
  'same-origin',
  'null',
  'https://atoll',
  '/clusters/root:b/api/v1/secrets',
  'CN=admin,O=system:masters',
  'gzip',
  'bytes=0-1',
  '100-continue',
  '-1',
  '99999999999',
];

/** As far as it can come over a wire, whose letters are bytes. */
export const isBytes = (text: string): boolean => !/[^\0-\xff]/.test(text);

/** Names and values in turn. */
export function headers(random: Random): string[] {
  const found: string[] = [];
  for (let i = random.pick([0, 1, 1, 2, 4]); i > 0; i--) {
    found.push(random.chance(0.95) ? random.pick(headerNames) : noise(random).toLowerCase());
    found.push(
      random.chance(0.8) ? random.pick(headerValues) : `${random.pick(headerValues)}${noise(random)}`,
    );
  }
  return found;
}

export function headersOf(texts: readonly string[]): Record<string, string> {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < texts.length; i += 2) pairs.push([texts[i] ?? '', texts[i + 1] ?? '']);
  return Object.fromEntries(pairs.filter(([name]) => name !== '' && !identifying.has(name) && isBytes(name)));
}

/** What is the asker's own to show. */
const identifying = new Set(['authorization', 'sec-websocket-protocol']);

export { names, tricks };
