import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { ApiRequest } from '../../kube/http.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, kubectl, must, mustJson, until } from '../atoll/kubectl.ts';

let server: Atoll;
let directory = '';
/** Of Ann, who administers the logical cluster root:team and is nobody in root. */
let ann = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-e2e-limits-'));
  server = await startAtoll({ args: ['--serving-processes', '1'] });
  const { kubeconfig } = server;
  const limits = { objects: 1000, bytes: '10Mi', requestsPerSecond: 50, watches: 100 };
  const workspace = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'team' },
    spec: { limits },
  };
  await writeFile(join(directory, 'workspace.json'), JSON.stringify(workspace));
  await must(kubeconfig, 'create', '-f', join(directory, 'workspace.json'));
  await must(
    kubeconfig,
    'wait',
    '--for',
    'jsonpath={.status.phase}=Ready',
    'workspace/team',
    '--timeout',
    '240s',
  );
  const team = join(directory, 'team.yaml');
  ann = join(directory, 'ann.yaml');
  expect((await atoll(kubeconfig, 'kubeconfig', 'root:team', '-o', team)).code).toBe(0);
  expect((await atoll(kubeconfig, 'kubeconfig', 'root:team', '--user', 'ann', '-o', ann)).code).toBe(0);
  await must(team, 'create', 'clusterrolebinding', 'ann', '--clusterrole', 'cluster-admin', '--user', 'ann');
  // What is used counts below: until then our own controllers make something there.
  await until('its namespaces are furnished', 60, async () => {
    const all = await must(team, 'get', 'namespaces', '-o', 'name');
    const made = await must(team, 'get', 'serviceaccounts,configmaps', '-A', '-o', 'name');
    const of = (name: string) => made.split('\n').filter((line) => line === name).length;
    const count = all.trim().split('\n').length;
    return of('serviceaccount/default') === count && of('configmap/kube-root-ca.crt') === count;
  });
});
afterAll(async () => {
  await server.dispose();
  await rm(directory, { recursive: true, force: true });
});

function limit(limits: object): Promise<string> {
  const patch = JSON.stringify({ spec: { limits } });
  return must(server.kubeconfig, 'patch', 'workspace', 'team', '--type', 'merge', '-p', patch);
}

it('kubectl shows what a logical cluster uses of what it may, inside and in its parent', async () => {
  const [head, row] = (await must(ann, 'get', 'logicalclusters', '-o', 'wide')).split('\n');
  expect(head?.split(/\s{2,}/)).toEqual([
    'NAME',
    'PHASE',
    'URL',
    'AGE',
    'OBJECTS',
    'BYTES',
    'REQUESTS/S',
    'WATCHES',
    'CRDS',
    'WEBHOOKS',
  ]);
  expect(row).toMatch(/ \d+\/1000 +\d+(Ki)?\/10Mi +\d+\/50 +\d+\/100 +0 +0/);
  await until('its parent shows it, too', 30, async () =>
    /team .* \d+\/1000 /.test(await must(server.kubeconfig, 'get', 'workspaces', '-o', 'wide')),
  );
});

it('kubectl says which limit it was, and its tenant does not raise it', async () => {
  const inside = await mustJson<{ status: { used: { objects: number } } }>(
    ann,
    'get',
    'logicalcluster',
    'cluster',
  );
  await limit({ objects: inside.status.used.objects + 1 });
  const create = (name: string) => kubectl(ann, 'create', 'configmap', name);
  expect((await create('a')).code).toBe(0);
  const refused = await create('b');
  const [used] = /used: objects=\d+, limited: objects=\d+/.exec(refused.stderr) ?? [];
  expect(refused.stderr).toBe(
    `error: failed to create configmap: configmaps "b" is forbidden: exceeded limits of logical cluster root:team, requested: objects=1, ${used}\n`,
  );
  const more = '{"spec":{"limits":{"objects":5000}},"status":{"hard":{"objects":5000}}}';
  for (const rest of [[], ['--subresource', 'status']])
    await kubectl(ann, 'patch', 'logicalcluster', 'cluster', '--type', 'merge', '-p', more, ...rest);
  const root = ['--server', `${server.url}/clusters/root`];
  expect(
    (await kubectl(ann, ...root, 'patch', 'workspace', 'team', '--type', 'merge', '-p', more)).stderr,
  ).toContain('Forbidden');
  expect((await create('b')).code).toBe(1);
  await must(ann, 'delete', 'configmap', 'a');
  expect((await create('b')).code).toBe(0);
  await limit({ objects: 1000 });
});

/** The answers' codes, over as many connections, until `enough`. */
async function flood(
  kubeconfig: string,
  request: ApiRequest,
  enough: (codes: readonly number[]) => boolean,
): Promise<number[]> {
  const transport = await transportFromKubeconfigFile(kubeconfig, { maxSockets: 48 });
  const codes: number[] = [];
  const ask = async () => {
    while (!enough(codes)) codes.push((await transport(request)).status);
  };
  await Promise.all(Array.from({ length: 48 }, ask));
  transport.close();
  return codes;
}

it('requests a second are one budget over both serving processes', async () => {
  const url = '/api/v1/namespaces/default/configmaps';
  const get = { method: 'GET', url, headers: {} };
  // That is work for the server more than for whoever asks.
  const body = Buffer.from(
    JSON.stringify({ metadata: { generateName: 'x-' }, data: { a: 'b'.repeat(4096) } }),
  );
  const headers = { 'content-type': 'application/json' };
  const tried = { method: 'POST', url: `${url}?dryRun=All`, headers, body };
  const serving = () => [...server.log().matchAll(/"msg":"serving"/g)].length;
  expect(serving()).toBe(1);
  await limit({ requestsPerSecond: 40, requestBurst: 40, objects: 1000 });
  let isBusy = true;
  const busy = flood(server.kubeconfig, tried, () => !isBusy);
  try {
    await until('another process serves', 60, async () => serving() > 1);
  } finally {
    isBusy = false;
    await busy;
  }
  const from = performance.now();
  const codes = await flood(ann, get, (all) => all.length >= 3000);
  const seconds = (performance.now() - from) / 1000;
  const answered = codes.filter((code) => code === 200).length;
  // However slow the machine is: what a burst and the time since brought, and not twice that.
  expect(answered).toBeLessThanOrEqual(Math.ceil(40 + 40 * seconds) + 1);
  expect(answered).toBeGreaterThan(20);
  expect(codes.filter((code) => code === 429).length).toBe(codes.length - answered);
});
