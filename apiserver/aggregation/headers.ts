import type { ApiRequest, ApiResponse, UserInfo } from '../../kube/http.ts';
import { upgradeHeaders } from '../wire/upgrade-headers.ts';

/**
 * Never passed on: what is meant for the two ends of one connection, the caller's secrets, and whatever another server might
 * take for a word of ours.
 */
const kept = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-real-ip',
]);
const keptFamilies = /^(x-remote|x-atoll|impersonate|sec-websocket|x-forwarded)(-|$)/;

/**
 * What another API server is told of a request, and of who asks: the authenticating proxy's headers of Kubernetes.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/
 */
export function sentHeaders(
  { headers, auditId }: Pick<ApiRequest, 'headers' | 'auditId'>,
  user: UserInfo,
): Record<string, string | string[]> {
  const passed = Object.entries(headers).filter(([name]) => isPassed(name));
  return {
    ...Object.fromEntries(passed),
    ...(auditId && { 'audit-id': auditId }),
    ...(headers['upgrade'] && { ...upgradeHeaders(headers), connection: 'Upgrade' }),
    ...userHeaders(user),
  };
}

/** A name with `_` is, to some servers, the same as with `-`. */
function isPassed(name: string): boolean {
  return !kept.has(name) && !keptFamilies.test(name) && !name.includes('_');
}

function userHeaders({ name, uid, groups, extra = {} }: UserInfo): Record<string, string | string[]> {
  const said: Record<string, string | string[]> = { 'x-remote-user': bytesOf(name) };
  if (uid) said['x-remote-uid'] = bytesOf(uid);
  if (groups.length > 0) said['x-remote-group'] = groups.map(bytesOf);
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) said[`x-remote-extra-${escapedKey(key)}`] = values.map(bytesOf);
  }
  return said;
}

/** As UTF-8: Node takes each character for a byte. */
function bytesOf(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

/** What no header's name may have is percent-encoded, `%` itself too, as client-go does. */
function escapedKey(key: string): string {
  return bytesOf(key).replace(
    /[^!#$&'*+\-.^_`|~0-9A-Za-z]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** Of an answer: what would be believed of the whole server, or is ours to say. */
const unsaid = new Set([
  'alt-svc',
  'audit-id',
  'clear-site-data',
  'connection',
  'content-length',
  'expect-ct',
  'keep-alive',
  'nel',
  'proxy-authenticate',
  'public-key-pins',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
]);
/** Also those by which browsers are told to report elsewhere. */
const unsaidFamilies = /^(access-control|x-atoll|x-kubernetes-pf|proxy)-|-report-only$/;

export function answeredHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ApiResponse['headers'] {
  const said: ApiResponse['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !unsaid.has(name) && !unsaidFamilies.test(name)) said[name] = value;
  }
  return said;
}
