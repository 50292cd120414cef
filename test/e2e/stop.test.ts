import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { decodeYaml } from '../../kube/yaml.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { until } from '../atoll/kubectl.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const path = '/api/v1/namespaces/default/configmaps';
/** Whoever sleeps would be waited for for 60 s; it is 5 on a machine with time. */
const goneMs = 45_000;

let server: Atoll;
afterEach(() => server?.dispose());

interface Writers {
  /** Names of what was acknowledged. */
  made: string[];
  /** What happened to those that were not, but that nobody listened any more. */
  failures: string[];
  /** The Connection headers of what was asked for after the first answer that said `close`; see `notice`. */
  connections: (string | undefined)[];
  notice(): void;
  done: Promise<unknown>;
}

/** Each creates on one connection that is kept, until nobody listens any more. */
function write(count: number, tls: https.AgentOptions): Writers {
  let noticing = false;
  let closing = false;
  const notice = () => {
    noticing = true;
  };
  const writers: Writers = { made: [], failures: [], connections: [], notice, done: Promise.resolve() };
  const one = async (writer: number) => {
    const agent = new https.Agent({ ...tls, keepAlive: true, maxSockets: 1 });
    for (let i = 0; ; i++) {
      const name = `w${writer}-${i}`;
      const late = closing;
      try {
        const { status, connection } = await create(agent, name);
        if (late) writers.connections.push(connection);
        closing ||= noticing && connection === 'close';
        if (status === 201) writers.made.push(name);
        else writers.failures.push(String(status));
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        if (code !== 'ECONNREFUSED') writers.failures.push(`${code}: ${message}`);
        break;
      }
    }
    agent.destroy();
  };
  writers.done = Promise.all(Array.from({ length: count }, (_, writer) => one(writer)));
  return writers;
}

function create(agent: https.Agent, name: string): Promise<{ status?: number; connection?: string }> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const out = https.request(server.url + path, { agent, method: 'POST', headers }, (response) => {
      response.resume();
      response.on('end', () => {
        const {
          statusCode: status,
          headers: { connection },
        } = response;
        resolve({ ...(status && { status }), ...(connection && { connection }) });
      });
      response.on('error', reject);
    });
    out.on('error', reject);
    out.end(body);
  });
}

async function identity(): Promise<https.AgentOptions> {
  const text = await readFile(server.kubeconfig, 'utf8');
  const { clusters, users } = decodeYaml(text).value as Record<
    string,
    Record<string, Record<string, string>>[]
  >;
  const pem = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64');
  return {
    ca: pem(clusters?.[0]?.['cluster']?.['certificate-authority-data']),
    cert: pem(users?.[0]?.['user']?.['client-certificate-data']),
    key: pem(users?.[0]?.['user']?.['client-key-data']),
  };
}

/** Watches, and takes nothing of it from the first byte on. */
async function sleepingWatcher(tls: https.AgentOptions): Promise<void> {
  const out = https.get(`${server.url}${path}?watch=1`, { ...tls, agent: false });
  out.on('error', () => {});
  const [response] = await once(out, 'response');
  response.on('error', () => {});
  response.socket.pause();
}

/** More than the sockets between the two hold. */
async function fill(client: Client): Promise<void> {
  const data = { text: 'x'.repeat(200_000) };
  for (let i = 0; i < 60; i++) {
    const metadata = { name: `large-${i}`, namespace: 'default' };
    await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  }
}

describe.each([
  { title: 'at once', args: [], delay: 0 },
  { title: 'after --shutdown-delay', args: ['--shutdown-delay', '2'], delay: 2_000 },
  { title: 'with serving processes', args: ['--serving-processes', '2'], delay: 0 },
])('SIGTERM, $title', ({ args, delay }) => {
  it('resets nobody, loses nothing, and waits for nobody who sleeps', async () => {
    server = await startAtoll({ args });
    const shares = args.includes('--serving-processes');
    const tls = await identity();
    const transport = await transportFromKubeconfigFile(server.kubeconfig);
    await sleepingWatcher(tls);
    await fill(new Client(transport));
    transport.close();
    const writers = write(100, tls);
    await until('they write', 30, async () => writers.made.length > 1_000);
    if (shares) await until('another process serves', 60, async () => serving() > 1);
    const longestPause = pauses();
    const from = performance.now();
    const ended = server.terminate();
    writers.notice();
    expect(await ended).toBe(0);
    expect(performance.now() - from).toBeLessThan(goneMs + delay);
    await writers.done;
    const paused = longestPause();
    expect(writers.failures).toEqual([]);
    // Other processes hear of it a moment later.
    if (!shares) expect(writers.connections.filter((header) => header !== 'close')).toEqual([]);
    // Who stood still for that long asked for nothing meanwhile.
    if (paused < delay / 2) expect(writers.connections).not.toEqual([]);
    await server.restart();
    const names = await stored();
    expect(writers.made.filter((name) => !names.has(name))).toEqual([]);
  });
});

/** Answers how long at most this process did nothing meanwhile, in milliseconds. */
function pauses(): () => number {
  let last = performance.now();
  let longest = 0;
  const note = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(note, 20);
  return () => {
    clearInterval(timer);
    note();
    return longest;
  };
}

async function stored(): Promise<Set<string | undefined>> {
  const transport = await transportFromKubeconfigFile(server.kubeconfig);
  const { items } = await new Client(transport).list(configMaps, { namespace: 'default' });
  transport.close();
  return new Set(items.map(({ metadata }) => metadata.name));
}

function serving(): number {
  return [...server.log().matchAll(/"msg":"serving"/g)].length;
}

describe('SIGHUP', () => {
  it('is a clean end, however often it comes', async () => {
    server = await startAtoll();
    const ended = server.terminate('SIGHUP');
    process.kill(server.pid, 'SIGHUP');
    expect(await ended).toBe(0);
  });
});
