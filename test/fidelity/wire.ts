import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { decodeJson, encodeJson } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/object.ts';
import { decodeYaml } from '../../kube/yaml.ts';
import type { Answer, Request, Tree } from './case.ts';

export interface Wire {
  send(request: Request): Promise<Sent>;
  close(): void;
}

/** `done` resolves with the whole answer; for a watch, when the server has ended it. */
export interface Sent {
  done: Promise<Answer>;
  /** Of a watch, what has come so far; and its end by whoever asked. */
  watched?: { soFar(): string; end(): void };
}

/** No request of a suite takes longer, a watch included. */
const deadlineMs = 20_000;

/** Raw HTTPS: what is sent is exactly what a case says, and nothing of the answer is interpreted. */
export async function connect(kubeconfig: string): Promise<Wire> {
  const { server, tls, authorization } = await credentials(kubeconfig);
  const agent = new Agent({ keepAlive: true, maxSockets: 64, ...tls });
  const bare = new Agent({ keepAlive: true, maxSockets: 64, ca: tls.ca });
  const base = new URL(server);
  const prefix = base.pathname.replace(/\/$/, '');
  const close = () => {
    agent.destroy();
    bare.destroy();
  };
  const send = (request: Request): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const body = bodyOf(request.body);
      const outgoing = httpsRequest({
        agent: request.bare ? bare : agent,
        host: base.hostname,
        port: base.port,
        method: request.method,
        path: `${prefix}${request.path}`,
        headers: {
          ...(authorization !== undefined && !request.bare && { authorization }),
          'user-agent': 'fidelity/1.0',
          ...(request.accept !== '' && { accept: request.accept ?? 'application/json' }),
          ...(body && {
            'content-type': request.contentType ?? 'application/json',
            'content-length': String(body.length),
          }),
          ...request.headers,
        },
      });
      const asked = `${request.method} ${base.origin}${prefix}${request.path}`;
      outgoing.setTimeout(deadlineMs, () => outgoing.destroy(new Error(`no answer to ${asked}`)));
      outgoing.once('response', (incoming) => {
        const chunks: Buffer[] = [];
        const done = readAnswer(incoming, chunks);
        if (request.watch) {
          done.catch(() => undefined);
          const soFar = () => Buffer.concat(chunks).toString();
          resolve({ done, watched: { soFar, end: () => void incoming.destroy() } });
        } else done.then((answer) => resolve({ done: Promise.resolve(answer) }), reject);
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  return { send, close };
}

function bodyOf(body: Request['body']): Buffer | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(encodeJson(body));
}

async function readAnswer(incoming: IncomingMessage, chunks: Buffer[]): Promise<Answer> {
  const timer = setTimeout(() => incoming.destroy(), deadlineMs);
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } finally {
    clearTimeout(timer);
  }
  const raw = Buffer.concat(chunks);
  const body = incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
  const headers = incoming.headers as Record<string, string | string[]>;
  return { status: incoming.statusCode ?? 0, headers, body, json: parse(headers, body) };
}

function parse(headers: Answer['headers'], body: Buffer): Tree {
  if (!String(headers['content-type']).startsWith('application/json')) return {};
  try {
    return decodeJson(body).value as unknown as Tree;
  } catch {
    return {};
  }
}

interface Credentials {
  server: string;
  tls: { ca: Buffer; cert?: Buffer; key?: Buffer };
  authorization: string | undefined;
}

async function credentials(kubeconfig: string): Promise<Credentials> {
  interface Named {
    name: string;
    cluster?: JsonObject;
    user?: JsonObject;
    context?: JsonObject;
  }
  const config = decodeYaml(await readFile(kubeconfig, 'utf8')).value as unknown as {
    'current-context': string;
    contexts: Named[];
    clusters: Named[];
    users: Named[];
  };
  const named = (list: Named[], name: unknown) => list.find((item) => item.name === name);
  const context = named(config.contexts, config['current-context'])?.context;
  const cluster = named(config.clusters, context?.['cluster'])?.cluster ?? {};
  const user = named(config.users, context?.['user'])?.user ?? {};
  const decoded = (value: unknown) => Buffer.from(String(value), 'base64');
  const certificate = user['client-certificate-data'];
  const token = user['token'];
  return {
    server: String(cluster['server']),
    tls: {
      ca: decoded(cluster['certificate-authority-data']),
      ...(certificate !== undefined && {
        cert: decoded(certificate),
        key: decoded(user['client-key-data']),
      }),
    },
    authorization: token === undefined ? undefined : `Bearer ${String(token)}`,
  };
}
