import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { base64, kubeconfigText } from '../../../kube/kubeconfig.ts';
import type { Asked, Made } from './messages.ts';

const host = '127.0.0.1';
/** As kube-apiserver tells where a watch has come to. */
const bookmarkMs = 60_000;
const etag = '"1"';
const json = 'application/json';

/** What was asked of all of them so far, and over how many connections that are open. */
export const asked: Asked = { requests: {}, connections: 0 };

/**
 * Clusters that are an API and nothing more, on which nothing is and nothing happens: a thousand of them take so little of the machine
 * that what a server takes for them can be measured beside. HTTP/1.1 and HTTP/2, as kube-apiserver has both.
 */
export async function startStill(names: readonly string[]): Promise<Made[]> {
  const open = new Set<Http2ServerResponse>();
  setInterval(() => {
    for (const watch of open) watch.write(bookmark);
  }, bookmarkMs);
  return await listenAs(names, (name) => (request, response) => answer(name, open, request, response));
}

export type Answers = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

/** So many API servers, each of which answers in its own way. */
export async function listenAs(
  names: readonly string[],
  answersOf: (name: string) => Answers,
): Promise<Made[]> {
  const authority = await createAuthority('bench-ca');
  const { privateKey: key, certificate: cert } = await authority.issueServer([host]);
  return await Promise.all(
    names.map(async (name) => {
      const server = createSecureServer({ key, cert, allowHTTP1: true }, answersOf(name));
      server.on('secureConnection', (socket: TLSSocket) => {
        asked.connections++;
        socket.once('close', () => asked.connections--);
      });
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      const kubeconfig = kubeconfigText({
        cluster: name,
        user: 'admin',
        context: name,
        clusterFields: {
          server: `https://${host}:${(server.address() as AddressInfo).port}`,
          'certificate-authority-data': base64(authority.certificate),
        },
        userFields: { token: 'bench' },
      });
      return { name, kubeconfig };
    }),
  );
}

const bookmark = `${JSON.stringify({
  type: 'BOOKMARK',
  object: { kind: 'Namespace', apiVersion: 'v1', metadata: { resourceVersion: '1' } },
})}\n`;

function answer(
  name: string,
  open: Set<Http2ServerResponse>,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): void {
  const { pathname, searchParams } = new URL(request.url, 'https://still');
  const isWatch = searchParams.get('watch') === 'true';
  const what = isWatch ? `watch ${pathname}` : `${request.method} ${pathname}`;
  asked.requests[what] = (asked.requests[what] ?? 0) + 1;
  if (isWatch) {
    response.writeHead(200, { 'content-type': json });
    response.write('');
    open.add(response);
    response.once('close', () => open.delete(response));
  } else if (pathname === '/apis' && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end();
  } else {
    response.writeHead(200, { 'content-type': json, etag }).end(JSON.stringify(bodyOf(name, pathname)));
  }
}

export function bodyOf(name: string, pathname: string): object {
  if (pathname === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.3' };
  if (pathname === '/apis')
    return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items: [] };
  if (pathname.startsWith('/api/v1/namespaces/'))
    return { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'kube-system', uid: `uid-${name}` } };
  return { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] };
}
