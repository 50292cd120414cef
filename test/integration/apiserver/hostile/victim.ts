import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Status } from '../../../../kube/status.ts';
import { compile } from '../../compile.ts';
import type { Hostile } from './cases.ts';

/** A server in a process of its own: one that hangs leaves the test its timers. */
export interface Victim {
  send(hostile: Hostile): Promise<Answer>;
  state(): Promise<State>;
  /** Makes the store fail with a message while somebody reads. */
  fail(message: string): Promise<void>;
  /** What was logged so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface Answer {
  code: number;
  text: string;
  status: Partial<Status> | undefined;
}

interface State {
  revision: number;
}

const program = `
import { createApiServer } from './apiserver/server.js';
import { tokenAuthenticator } from './apiserver/authn/token.js';
import { createAuthority } from './apiserver/tls/ca.js';
import { jsonLogger } from './server/log.js';
import { openMemory } from './storage/memory/memory.js';
const store = openMemory();
let failure;
const get = store.get.bind(store);
store.get = (...args) => (failure === undefined ? get(...args) : Promise.reject(new Error('hostile failure' + failure)));
const users = new Map([['secret', { name: 'admin', groups: ['system:masters'] }]]);
const logger = jsonLogger('info');
const server = createApiServer({
  store,
  logicalClusters: true,
  authenticate: [tokenAuthenticator(users)],
  logger: { info: (message, values) => logger.info(values, message), error: (message, values) => logger.error(values, message) },
});
const authority = await createAuthority('test');
const issued = await authority.issueServer(['127.0.0.1']);
const tls = { key: issued.privateKey, cert: issued.certificate, ca: authority.certificate };
const { url } = await server.listen({ host: '127.0.0.1', port: 0, tls });
process.on('message', ({ fail }) => {
  failure = fail;
  process.send({ revision: store.revision });
});
process.send({ url, ca: authority.certificate });
`;

export async function startVictim(): Promise<Victim> {
  const directory = await mkdtemp(join(tmpdir(), 'hostile-'));
  await compile(['kube', 'cluster', 'storage', 'apiserver', 'server'], directory);
  await writeFile(join(directory, 'victim.js'), program);
  const stdio = ['ignore', 'inherit', 'pipe', 'ipc'] as const;
  const child = spawn(process.execPath, [join(directory, 'victim.js')], { stdio: [...stdio] });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const reply = listen(child);
  const { url, ca } = (await reply()) as { url: string; ca: string };
  const agent = new https.Agent({ ca, keepAlive: true });
  const ask = async (question: object) => {
    const answer = reply();
    child.send(question);
    return (await answer) as State;
  };
  const send = (hostile: Hostile) => exchange(url, agent, hostile);
  return {
    send,
    state: () => ask({}),
    fail: async (message) => {
      await ask({ fail: message });
      await send({ name: '', path: '/api/v1/namespaces/default/configmaps/x', code: 500 });
      await ask({});
    },
    log: () => log,
    stop: async () => {
      agent.destroy();
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
      await rm(directory, { recursive: true });
    },
  };
}

/** What the child says next; each question gets one answer. */
function listen(child: ChildProcess): () => Promise<unknown> {
  const waiting: { resolve(message: unknown): void; reject(error: Error): void }[] = [];
  child.on('message', (message) => waiting.shift()?.resolve(message));
  child.on('exit', (code) => {
    for (const { reject } of waiting) reject(new Error(`the server ended with ${code}`));
  });
  return () => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

function exchange(
  url: string,
  agent: https.Agent,
  { method = 'GET', path, headers, body }: Hostile,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const all = { authorization: 'Bearer secret', ...headers, ...length };
    const out = https.request({ hostname, port, agent, method, path, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ code: response.statusCode ?? 0, text, status: statusOf(text) });
      });
    });
    out.on('error', reject);
    out.end(body);
  });
}

function statusOf(text: string): Partial<Status> | undefined {
  try {
    const value = JSON.parse(text) as Partial<Status>;
    return value.kind === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}
