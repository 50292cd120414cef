import { quoteGo } from '../quote.ts';

/** As kube-apiserver shows an endpoint that it refuses. */
export function withScheme(endpoint: string): string {
  return endpoint.includes('//') ? endpoint : `dns://${endpoint}`;
}

/** Why nothing is sent there, in the words of kube-apiserver and Go's net/url; undefined: it may be. */
export function endpointProblem(endpoint: string): string | undefined {
  const url = withScheme(endpoint);
  const failed = (why: string) => `parse ${quoteGo(url)}: ${why}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(url)) return failed('net/url: invalid control character in URL');
  if (url.startsWith(':')) return failed('missing protocol scheme');
  const [, scheme = '', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):)?(.*)$/i.exec(url) ?? [];
  const wrong = rest.startsWith('//') ? hostProblem(/^\/\/([^/?#]*)/.exec(rest)?.[1] ?? '') : undefined;
  if (wrong !== undefined) return failed(wrong);
  const known = scheme.toLowerCase();
  if (known === 'dns' || known === 'unix') return undefined;
  if (known === 'unix-abstract')
    return 'unix-abstract is not supported: name a socket by unix:///PATH, or host:port';
  return `unsupported scheme: ${known}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`;
}

/** What stands between `//` and the path, as net/url takes it. */
function hostProblem(authority: string): string | undefined {
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host !== authority && !/^[\w.~!$&'()*+,;=:%@-]*$/.test(authority)) return 'net/url: invalid userinfo';
  const bracket = host.startsWith('[') ? host.lastIndexOf(']') : 0;
  if (bracket < 0) return "missing ']' in host";
  const colon = bracket > 0 ? bracket + 1 : host.lastIndexOf(':');
  const port = colon < 0 ? '' : host.slice(colon);
  if (port !== '' && !/^:\d*$/.test(port)) return `invalid port ${quoteGo(port)} after host`;
  const strayed = /%(?![0-9a-f]{2}).{0,2}/i.exec(host)?.[0];
  if (strayed !== undefined) return `invalid URL escape ${quoteGo(strayed)}`;
  const strange = /[^\w.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}-]/u.exec(host)?.[0];
  return strange === undefined ? undefined : `invalid character ${quoteGo(strange)} in host name`;
}
