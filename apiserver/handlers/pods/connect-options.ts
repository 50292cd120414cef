import type { Json } from '../../../kube/object.ts';
import { badRequest } from '../../../kube/status.ts';
import { withoutLast } from '../../../kube/trim.ts';

/** What a connection is for, as admission sees it and as it is opened: both are made of this. */
export type ConnectOptions = Readonly<Record<string, Json>>;

const switches = ['stdin', 'stdout', 'stderr', 'tty'];

/**
 * A URL's query as Go's url.ParseQuery reads it, which the server that opens the connection does too: pairs with a
 * semicolon or an escape that is none are passed over. Throws StatusError 400 for what is no text.
 */
export function readQuery(url: string): URLSearchParams {
  const query = new URLSearchParams();
  const mark = url.indexOf('?');
  for (const pair of mark < 0 ? [] : url.slice(mark + 1).split('&')) {
    if (pair === '' || pair.includes(';') || /%(?![0-9a-f]{2})/i.test(pair)) continue;
    const [name = '', ...value] = pair.replaceAll('+', ' ').split('=');
    query.append(text(name), text(value.join('=')));
  }
  return query;
}

/** Of several of what there may be one of, the first counts, be it empty. */
export function connectOptions(kind: string, query: URLSearchParams): ConnectOptions {
  if (kind === 'PodPortForwardOptions') return { ports: query.getAll('ports').map(Number) };
  const options: Record<string, Json> = {};
  for (const name of switches)
    if (query.has(name) && !/^(false|0)$/i.test(query.get(name) ?? '')) options[name] = true;
  const container = query.get('container');
  if (container) options['container'] = container;
  if (kind === 'PodExecOptions') options['command'] = query.getAll('command');
  return options;
}

/** The query that says these, and nothing else; with its question mark, if there is any. */
export function queryOf(options: ConnectOptions): string {
  const pairs = Object.entries(options).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}=${encodeURIComponent(String(one))}`),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/**
 * The path that is asked of a pod or Service, of what a URL has after `/proxy`. As Kubernetes says it: decoded, with one
 * slash before it where there is one more, and at most one after it. Throws StatusError 400 for what cannot be decoded.
 */
export function proxiedPath(tail: string): string {
  const [path = ''] = tail.split('?');
  // What is not ASCII came as bytes.
  const bytes = path.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  const whole = text(bytes);
  const inner = withoutLast(whole.replace(/^\//, ''), '/');
  const before = inner === '' || inner.startsWith('/') ? inner : `/${inner}`;
  return whole.endsWith('/') ? `${before}/` : before;
}

function text(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    throw badRequest('invalid URL escape');
  }
}
