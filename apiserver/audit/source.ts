import { isIP } from 'node:net';
import type { ApiRequest } from '../../kube/http.ts';
import { randomUid } from '../../kube/uuid.ts';

const longestAgent = 1024;

/** What the client calls its request, where that is short and printable; else a name of ours. */
export function auditIdOf({ headers }: ApiRequest): string {
  const asked = headers['audit-id'];
  return asked !== undefined && /^[\x20-\x7e]{1,256}$/.test(asked) ? asked : randomUid();
}

/** From where a request came, over which proxies: all but the last the client may have made up. */
export function sourceIps({ headers }: ApiRequest, address: string | undefined): string[] {
  const found: string[] = [];
  for (const part of headers['x-forwarded-for']?.split(',') ?? [])
    if (isIP(part.trim())) found.push(part.trim());
  const real = headers['x-real-ip']?.trim() ?? '';
  if (isIP(real) && !found.includes(real)) found.push(real);
  const remote = address?.replace(/^::ffff:(?=\d+\.)/, '');
  if (remote !== undefined && found.at(-1) !== remote) found.push(remote);
  return found;
}

export function userAgentOf({ headers }: ApiRequest): string | undefined {
  const agent = headers['user-agent'];
  if (agent === undefined || agent.length <= longestAgent) return agent || undefined;
  return `${agent.slice(0, longestAgent)}...TRUNCATED`;
}

/** The URL as it was sent, but for tokens: whoever reads an event could use them. */
export function requestUri(url: string): string {
  const mark = url.indexOf('?');
  if (mark < 0 || !/token/i.test(decoded(url.slice(mark)))) return url;
  const pairs = url.slice(mark + 1).split('&');
  return `${url.slice(0, mark)}?${pairs.map(withoutToken).join('&')}`;
}

function withoutToken(pair: string): string {
  const [name = ''] = pair.split('=', 1);
  return /token$/i.test(decoded(name)) ? `${name}=...` : pair;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
