import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { createAuthority, loadAuthority } from '../../apiserver/tls/ca.ts';

export const group = 'wardle.example.com';
export const version = 'v1alpha1';
export const gv = `${group}/${version}`;

type Flunder = Record<string, unknown> & { metadata: Record<string, unknown> };

export interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  raw: readonly string[];
  body: string;
  /** The common name in the certificate that was shown, were it good or not. */
  shown: string | undefined;
  authorized: boolean;
}

export interface Extension {
  port: number;
  /** As an APIService has it. */
  caBundle: string;
  asked: Asked[];
  /** In place of what is served: of what it answers true. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** In place of the protocol that is asked for. */
  upgradeTo: string | undefined;
  /** By whom the certificates of proxies are signed, from now on. */
  trust(ca: string): void;
  close(): Promise<void>;
}

/**
 * An API server of one group, with flunders, that believes a proxy's headers only from whoever shows a certificate that its
 * authority signed; else 401.
 */
export async function startExtension(
  host = '127.0.0.1',
  names = ['wardle.default.svc'],
  at = 0,
): Promise<Extension> {
  const authority = await createAuthority('extension');
  const { certificate, privateKey } = await (await loadAuthority(authority)).issueServer(names);
  const nobody = await createAuthority('nobody');
  const tls = { cert: certificate, key: privateKey, requestCert: true, rejectUnauthorized: false };
  const asked: Asked[] = [];
  const store = new Flunders();
  const server = createServer({ ...tls, ca: nobody.certificate });
  const extension: Extension = {
    port: 0,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    asked,
    instead: undefined,
    upgradeTo: undefined,
    trust: (ca) => server.setSecureContext({ ...tls, ca }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  const note = async (request: IncomingMessage): Promise<Asked> => {
    const socket = request.socket as TLSSocket;
    const shown = socket.getPeerCertificate()?.subject?.CN as string | undefined;
    const { authorized } = socket;
    const chunks: Buffer[] = [];
    if (request.headers.upgrade === undefined)
      for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      raw: request.rawHeaders,
      body: Buffer.concat(chunks).toString(),
      shown,
      authorized,
    };
    asked.push(one);
    return one;
  };
  server.on('request', async (request, response) => {
    const noted = note(request);
    noted.catch(() => undefined);
    if (extension.instead?.(request, response)) return;
    const one = await noted;
    const isProxy = one.authorized && one.shown === 'front-proxy-client' && one.headers['x-remote-user'];
    if (!isProxy) return void answer(response, 401, status(401, 'Unauthorized'));
    store.serve(one, response);
  });
  server.on('upgrade', async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    await note(request);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${extension.upgradeTo ?? request.headers.upgrade}\r\nSet-Cookie: a=b\r\n\r\n`,
    );
    if (head.length > 0) socket.unshift(head);
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(at, host, resolve));
  extension.port = (server.address() as AddressInfo).port;
  return extension;
}

function status(code: number, reason: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: reason, reason, code };
}

function answer(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

const verbs = ['create', 'delete', 'get', 'list', 'update', 'watch'];

class Flunders {
  readonly #all = new Map<string, Flunder>();
  readonly #watches = new Set<{ response: ServerResponse; namespace: string | undefined }>();
  /** What a watch from an earlier list has missed. */
  readonly #history: { type: string; object: Flunder; revision: number }[] = [];
  #revision = 1;

  serve({ method, url, body }: Asked, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'https://here');
    if (pathname === `/apis/${gv}`) return void answer(response, 200, this.#resources());
    const match = /^\/apis\/[^/]+\/[^/]+(?:\/namespaces\/([^/]+))?\/flunders(?:\/([^/]+))?$/.exec(pathname);
    if (!match) return void answer(response, 404, status(404, 'NotFound'));
    const [, namespace, name] = match;
    if (name !== undefined) return void this.#one(`${namespace}/${name}`, method, body, response);
    if (method === 'POST') return void this.#create(namespace ?? '', JSON.parse(body), response);
    if (method === 'DELETE') {
      for (const key of [...this.#all.keys()]) if (key.startsWith(`${namespace}/`)) this.#remove(key);
      return void answer(response, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
    }
    const items = [...this.#all.values()].filter((one) => isIn(one, namespace));
    if (!['1', 'true'].includes(searchParams.get('watch') ?? '')) {
      const metadata = { resourceVersion: String(this.#revision) };
      return void answer(response, 200, { kind: 'FlunderList', apiVersion: gv, metadata, items });
    }
    // As servers do that know of no such thing: clients list instead.
    if (searchParams.has('sendInitialEvents')) return void answer(response, 422, status(422, 'Invalid'));
    response.writeHead(200, { 'content-type': 'application/json' });
    const after = Number(searchParams.get('resourceVersion') ?? 0);
    for (const { type, object, revision } of this.#history) {
      if (revision > after && isIn(object, namespace)) event(response, type, object);
    }
    response.flushHeaders();
    const watch = { response, namespace };
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
  }

  #one(key: string, method: string, body: string, response: ServerResponse): void {
    const there = this.#all.get(key);
    if (there === undefined) {
      const details = { name: key.split('/')[1], group, kind: 'flunders' };
      return void answer(response, 404, { ...status(404, 'NotFound'), details });
    }
    if (method === 'PUT') {
      const changed = JSON.parse(body) as Flunder;
      changed.metadata = {
        ...there.metadata,
        ...changed.metadata,
        resourceVersion: String(++this.#revision),
      };
      this.#all.set(key, changed);
      this.#tell('MODIFIED', changed);
      return void answer(response, 200, changed);
    }
    if (method === 'DELETE') this.#remove(key);
    answer(response, 200, there);
  }

  #create(namespace: string, given: Flunder, response: ServerResponse): void {
    const key = `${namespace}/${given.metadata['name']}`;
    if (this.#all.has(key)) return void answer(response, 409, status(409, 'AlreadyExists'));
    const made = {
      ...given,
      kind: 'Flunder',
      apiVersion: gv,
      metadata: {
        ...given.metadata,
        namespace,
        uid: `uid-${++this.#revision}`,
        resourceVersion: String(this.#revision),
        creationTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
      },
    };
    this.#all.set(key, made);
    this.#tell('ADDED', made);
    answer(response, 201, made);
  }

  #remove(key: string): void {
    const there = this.#all.get(key);
    this.#all.delete(key);
    this.#revision++;
    if (!there) return;
    const metadata = { ...there.metadata, resourceVersion: String(this.#revision) };
    this.#tell('DELETED', { ...there, metadata });
  }

  #tell(type: string, object: Flunder): void {
    this.#history.push({ type, object, revision: this.#revision });
    for (const { response, namespace } of this.#watches)
      if (isIn(object, namespace)) event(response, type, object);
  }

  #resources(): object {
    const flunders = { name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs };
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: gv,
      resources: [{ ...flunders, shortNames: ['fl'] }],
    };
  }
}

function isIn({ metadata }: Flunder, namespace: string | undefined): boolean {
  return namespace === undefined || metadata['namespace'] === namespace;
}

function event(response: ServerResponse, type: string, object: Flunder): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}
