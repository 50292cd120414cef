import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../../kube/log.ts';
import { loadAudit } from '../../../server/audit/load.ts';
import { AuditMetrics } from '../../../server/metrics/audit.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { TakenFiles } from '../../../server/taken-files.ts';
import { eventually } from '../../eventually.ts';

let directory: string;
let hook: Server;
let answers: number[];
let lists: { kind: string; apiVersion: string; items: { n: number }[] }[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-audit-'));
  answers = [];
  lists = [];
  hook = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      response.statusCode = answers.shift() ?? 200;
      if (response.statusCode === 200) lists.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(hook, 'listening');
  await write('policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n');
  await write('hook.yaml', kubeconfig((hook.address() as AddressInfo).port));
});
afterEach(async () => {
  hook.close();
  await rm(directory, { recursive: true, force: true });
});

const file = (name: string) => join(directory, name);
const write = (name: string, text: string) => writeFile(file(name), text);

function kubeconfig(port: number): string {
  return `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:${port}"}}]
users: [{name: a, user: {}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`;
}

async function loaded(flags: object, observer = new AuditMetrics(), flushMs?: number) {
  const { audit: settings } = resolveSettings(
    { auditPolicyFile: file('policy.yaml'), ...flags },
    undefined,
    {},
  );
  const more = flushMs === undefined ? {} : { flushMs };
  const audit = await loadAudit({
    settings,
    files: new TakenFiles(),
    first: true,
    logger: silentLogger,
    observer,
    ...more,
  });
  if (audit === undefined) throw new Error('no audit');
  return audit;
}

function lostIn(observer: AuditMetrics): object[] {
  return observer
    .families()
    .filter(({ definition }) => definition.name === 'apiserver_audit_error_total')
    .flatMap(({ figures }) => figures);
}

const numbers = () => lists.map(({ items }) => items.map(({ n }) => n));

test('a webhook gets lists of events, again where it failed, and what is left at the end', async () => {
  answers = [500];
  const { options, close } = await loaded({
    auditWebhookConfigFile: file('hook.yaml'),
    auditWebhookBatchMaxSize: '2',
    auditWebhookInitialBackoff: '1',
  });
  for (const n of [1, 2, 3]) options.write(`{"n":${n}}`);
  await eventually(() => expect(numbers()).toEqual([[1, 2]]));
  await close();
  expect(numbers()).toEqual([[1, 2], [3]]);
  expect(lists[0]).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1' });
});

test('one that is dead holds nothing up: what there is no room for is lost, and both are counted', async () => {
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  await write('hook.yaml', kubeconfig(port));
  const observer = new AuditMetrics();
  const { options, close } = await loaded(
    {
      auditLogPath: file('audit.log'),
      auditWebhookConfigFile: file('hook.yaml'),
      auditWebhookBatchMaxSize: '2',
      auditWebhookBatchBufferSize: '4',
    },
    observer,
  );
  // An alert on what a counter has grown by misses what it begins with.
  expect(lostIn(observer)).toEqual(
    ['buffered', 'log', 'webhook'].map((plugin) => ({ labels: [plugin], value: 0 })),
  );
  for (let n = 0; n < 10; n++) options.write(`{"n":${n}}`);
  await close();
  expect((await readFile(file('audit.log'), 'utf8')).split('\n')).toHaveLength(11);
  const lost = lostIn(observer) as { labels: string[]; value: number }[];
  const told = lost.filter(({ value }) => value > 0);
  expect(told.map(({ labels }) => labels[0]).sort()).toEqual(['buffered', 'webhook']);
  expect(lost.reduce((sum, { value }) => sum + value, 0)).toBe(10);
});

test('one that never answers holds up the end for a while, once for all that is left, and that is lost', async () => {
  let asked = 0;
  const silent = createServer(() => asked++).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  await write('hook.yaml', kubeconfig((silent.address() as AddressInfo).port));
  const observer = new AuditMetrics();
  const flags = { auditWebhookConfigFile: file('hook.yaml'), auditWebhookBatchMaxSize: '1' };
  const { options, close } = await loaded(flags, observer, 50);
  for (let n = 0; n < 20; n++) options.write(`{"n":${n}}`);
  await eventually(() => expect(asked).toBe(1));
  await close();
  expect(asked).toBe(1);
  expect(lostIn(observer)).toMatchObject([
    { labels: ['buffered'], value: 0 },
    { labels: ['webhook'], value: 20 },
  ]);
  silent.closeAllConnections();
  silent.close();
});

test.each([
  ['policy.yaml', 'kind: Pod', /^--audit-policy-file .*policy.yaml: failed decoding: no kind "Pod"/],
  ['policy.yaml', 'rules: [', /^--audit-policy-file .*policy.yaml: /],
  [
    'policy.yaml',
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]',
    /rules\[0\]\.level: Unsupported value: "All"/,
  ],
  ['hook.yaml', 'x', /^--audit-webhook-config-file .*hook.yaml: /],
])('%s that says %j keeps the server from starting', async (name, text, why) => {
  await write(name, text);
  await expect(loaded({ auditWebhookConfigFile: file('hook.yaml') })).rejects.toThrow(why);
});

test('neither a file that is not there nor one that cannot be written is taken', async () => {
  await expect(loaded({ auditPolicyFile: file('none.yaml'), auditLogPath: '-' })).rejects.toThrow('ENOENT');
  await expect(loaded({ auditLogPath: join(directory, 'no', 'audit.log') })).rejects.toThrow(
    /^--audit-log-path .*ENOENT/,
  );
});
