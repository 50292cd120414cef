import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aggregatorFlags } from '../aggregation/kubernetes.ts';
import { buildSample, machineAddress, type Sample, startSample } from '../aggregation/sample.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { logicalCluster } from '../fidelity/workspace.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';

/** Kubernetes' own sample API server, unmodified, behind Kubernetes and behind a logical cluster of Atoll. */
let folder: string;
let kubernetes: Kubernetes;
let atoll: Atoll;
let samples: Sample[] = [];
/** Kubernetes' and the tenant's. */
let sides: readonly [string, string];

const apiVersion = 'wardle.example.com/v1alpha1';
interface Flunder {
  apiVersion: string;
  kind: string;
  metadata: { name: string; [field: string]: unknown };
  spec?: object;
}
const flunder = (name: string, rest: { metadata?: object; spec?: object } = {}): Flunder => ({
  apiVersion,
  kind: 'Flunder',
  ...rest,
  metadata: { name, ...rest.metadata },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sample-apiserver-'));
  const built = await buildSample();
  [kubernetes, atoll] = await Promise.all([
    startKubernetes({ apiOnly: true, controllers: true, flags: await aggregatorFlags(folder) }),
    startAtoll({ args: ['--egress-allow', `${machineAddress}/32`] }),
  ]);
  sides = [kubernetes.kubeconfig, await logicalCluster(atoll, 'team-a')];
  const { etcd } = kubernetes;
  samples = await Promise.all(
    sides.map((kubeconfig, at) => startSample(built, { kubeconfig, dir: join(folder, `side-${at}`), etcd })),
  );
}, 1_600_000);

afterAll(async () => {
  for (const sample of samples) await sample.stop();
  await Promise.all([kubernetes?.stop(), atoll?.dispose()]);
  await rm(folder, { recursive: true, force: true });
});

async function file(object: object): Promise<string> {
  const path = join(folder, `${Math.random()}.json`);
  await writeFile(path, JSON.stringify(object));
  return path;
}

/** What differs from one cluster to the next, and from one time to the next. */
function plain(text: string): string {
  return text
    .replace(/(\d+[smh])+\s*$/gm, 'AGE')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/(resourceVersion: |Resource Version: +)"?\d+"?/g, '$1RV');
}

/** On both sides: they answer the same, which is returned. */
async function both(...args: string[]): Promise<{ code: number; said: string }> {
  const [there, here] = await Promise.all(
    sides.map(async (kubeconfig) => {
      const { code, stdout, stderr } = await kubectl(kubeconfig, ...args);
      return { code, said: plain(stdout + stderr) };
    }),
  );
  if (there === undefined) throw new Error('there are two sides');
  expect(here, args.join(' ')).toEqual(there);
  return there;
}

async function ok(...args: string[]): Promise<string> {
  const { code, said } = await both(...args);
  expect(code, said).toBe(0);
  return said;
}

test('kubectl finds and explains its kinds, validates what is made, and shows it', async () => {
  expect(await ok('api-resources', '--api-group=wardle.example.com')).toContain('Flunder');
  await until('its documents are there', 90, async () => {
    const explained = await Promise.all(sides.map((side) => kubectl(side, 'explain', 'flunder')));
    return explained.every(({ code }) => code === 0);
  });
  expect(await ok('explain', 'flunder.spec', '--recursive')).toContain('referenceType');
  expect(await ok('explain', 'fischer')).toContain('disallowedFlunders');
  const { said } = await both('create', '-f', await file(flunder('wrong', { spec: { nosuch: 1 } })));
  expect(said).toContain('unknown field "spec.nosuch"');
  await ok('create', '-f', samples[0]?.flunder ?? '');
  const applied = await file(
    flunder('applied', { metadata: { labels: { a: 'b' } }, spec: { reference: 'x' } }),
  );
  await ok('apply', '--server-side', '-f', applied);
  await ok('apply', '-f', applied);
  await ok('diff', '-f', applied);
  for (const patch of [
    ['--type=merge', '-p', '{"spec":{"reference":"y"}}'],
    ['-p', '{"metadata":{"labels":{"c":"d"}}}'],
    ['--type=json', '-p', '[{"op":"add","path":"/metadata/annotations/x","value":"y"}]'],
  ]) {
    await ok('patch', 'flunder', 'applied', ...patch);
  }
  await ok('get', 'flunder', 'applied', '-o', 'yaml', '--show-managed-fields');
  await ok('describe', 'flunder', 'applied');
  expect(await ok('get', 'flunders', '-A', '-l', 'a=b')).toContain('applied');
  await ok('get', '--raw', `/openapi/v3/apis/${apiVersion}`);
});

/** Kubernetes names the documents of versions without an APIService too. */
test('OpenAPI 2 and 3 say of its kinds what Kubernetes says', async () => {
  const [there, here] = await Promise.all(
    sides.map(async (side) => {
      const index = JSON.parse(await must(side, 'get', '--raw', '/openapi/v3'));
      const v2 = JSON.parse(await must(side, 'get', '--raw', '/openapi/v2'));
      const own = (map: object, word: string) => Object.entries(map).filter(([name]) => name.includes(word));
      const names = (map: object, word: string) => own(map, word).map(([name]) => name);
      return {
        index: own(index.paths, 'wardle').filter(([name]) => !name.endsWith('/v1beta1')),
        paths: names(v2.paths, 'wardle.example.com/v1alpha1').sort(),
        definitions: own(v2.definitions, 'sample-apiserver').sort(),
      };
    }),
  );
  expect(there?.definitions.length).toBeGreaterThan(3);
  expect(here).toEqual(there);
});

test('its own admission refuses, and users may what roles say', async () => {
  const fischer = { apiVersion, kind: 'Fischer', metadata: { name: 'f' }, disallowedFlunders: ['banned'] };
  await ok('create', '-f', await file(fischer));
  const banned = await file(flunder('banned'));
  await until('its informer has seen the ban', 30, async () => {
    const said = await Promise.all(
      sides.map((side) => kubectl(side, 'create', '-f', banned, '--dry-run=server')),
    );
    return said.every(({ code }) => code !== 0);
  });
  await both('create', '-f', banned);
  await ok('create', 'role', 'fl', '--verb=get,list,watch', '--resource=flunders.wardle.example.com');
  await ok('create', 'rolebinding', 'fl', '--role=fl', '--user=ann');
  expect(await ok('get', 'flunders', '--as=ann')).toContain('my-first-flunder');
  await both('get', 'flunders', '-A', '--as=ann');
  expect((await both('delete', 'flunder', 'applied', '--as=ann')).said).toContain('cannot delete');
});

test('garbage is collected from it and for it, and a namespace takes along what it has there', async () => {
  await ok('create', 'namespace', 'gone');
  const make = async (side: string, kind: string, name: string, owner?: Flunder) => {
    const owners = owner && [
      {
        apiVersion: owner.apiVersion,
        kind: owner.kind,
        name: owner.metadata.name,
        uid: owner.metadata['uid'],
      },
    ];
    const metadata = { name, namespace: 'gone', ...(owners && { ownerReferences: owners }) };
    const object = { apiVersion: kind === 'Flunder' ? apiVersion : 'v1', kind, metadata };
    await must(side, 'create', '-f', await file(object));
    return mustJson<Flunder>(side, 'get', kind, name, '-n', 'gone');
  };
  for (const side of sides) {
    await make(side, 'Flunder', 'owned', await make(side, 'ConfigMap', 'owner'));
    await make(side, 'ConfigMap', 'owned', await make(side, 'Flunder', 'owner'));
  }
  await ok('get', 'flunder,configmap', 'owned', '-n', 'gone', '-o', 'name');
  await ok('delete', 'configmap,flunder', 'owner', '-n', 'gone');
  for (const kind of ['flunder', 'configmap']) {
    await Promise.all(
      sides.map((side) => must(side, 'wait', kind, 'owned', '-n', 'gone', '--for=delete', '--timeout=120s')),
    );
  }
  await ok('create', '-n', 'gone', '-f', await file(flunder('left')));
  await ok('delete', 'namespace', 'gone', '--timeout=120s');
  expect(await ok('get', 'flunders', '-n', 'gone')).toContain('No resources found');
  await ok('delete', 'flunders', '--all');
});
