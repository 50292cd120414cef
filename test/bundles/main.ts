import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isSystemNamespace } from '../../cluster/names.ts';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { atoll, kubectl, must, mustJson, until } from '../atoll/kubectl.ts';
import { startKubernetes } from '../kubernetes/kubernetes.ts';
import {
  type Bundle,
  compare,
  type Difference,
  needs,
  type Outcome,
  readBundles,
  readOutcome,
} from './bundle.ts';

/**
 * These must agree and run to ready on two clusters. metrics-server's files are the base of a kustomization: what
 * it adds, the common label, is added here, since without it both servers refuse the Deployment.
 */
const mustRun: ReadonlyMap<string, string | undefined> = new Map([
  ['online-boutique', undefined],
  ['podinfo-kustomize', undefined],
  ['sock-shop-complete', undefined],
  ['metrics-server', 'k8s-app: metrics-server'],
]);
/** How many may differ. */
const mayDiffer = 3;

const [dir, ...only] = process.argv.slice(2);
if (!dir) {
  process.stderr.write('usage: make bundles DIR=<folder with bundles.json>\n');
  process.exit(2);
}
const all = await readBundles(dir);
const [part, parts] = partOf(process.env['BUNDLES_PART'] || '1/1');
const chosen = all.filter(({ name }, at) => {
  if (only.length > 0) return only.includes(name);
  return at % parts === part - 1 || mustRun.has(name);
});
const server = await startAtoll();
try {
  process.exitCode = await compareAll(server);
} catch (error) {
  process.stderr.write(`${server.log().slice(-4000)}\n`);
  throw error;
} finally {
  await server.dispose();
}

/** Of `1/3`: every third, from the first on. */
function partOf(text: string): [number, number] {
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (part && parts && part <= parts) return [part, parts];
  process.stderr.write(`BUNDLES_PART is ${text}, and should be as 1/4\n`);
  process.exit(2);
}

async function compareAll(server: Atoll): Promise<number> {
  const results = new Map<string, Difference & { errors: string[] }>();
  const waiting = [...chosen];
  const worker = async () => {
    for (let bundle = waiting.shift(); bundle; bundle = waiting.shift()) {
      const result = await compareOne(server, bundle);
      results.set(bundle.name, result);
      report(bundle, result);
    }
  };
  await Promise.all([worker(), worker()]);
  const agreeing = chosen.filter((bundle) => agrees(results.get(bundle.name)));
  const ran = await runToReady(server);
  const failed = [...mustRun.keys()].filter(
    (name) => results.has(name) && (!agrees(results.get(name)) || !ran.has(name)),
  );
  process.stdout.write(`\n${agreeing.length} of ${chosen.length} bundles agree with kube-apiserver\n`);
  for (const name of failed) process.stdout.write(`${name} must agree and run to ready, and does not\n`);
  const enough = only.length > 0 || agreeing.length >= chosen.length - mayDiffer;
  process.stdout.write(`${agreeing.length} passed, ${(enough ? 0 : 1) + failed.length} failed\n`);
  return enough && failed.length === 0 ? 0 : 1;
}

async function compareOne(server: Atoll, bundle: Bundle): Promise<Difference & { errors: string[] }> {
  const kubernetes = await startKubernetes({ name: 'oracle', apiOnly: true });
  try {
    const logical = await freshLogicalCluster(server, bundle.name);
    const [ours, theirs] = [
      await applyTwice(logical, bundle),
      await applyTwice(kubernetes.kubeconfig, bundle),
    ];
    const errors = ours.errors.filter((line) => !theirs.errors.includes(line));
    return { ...compare(ours, theirs), errors };
  } finally {
    await kubernetes.stop();
  }
}

/** Twice, as a user does whose CRDs were not served yet the first time. */
async function applyTwice(kubeconfig: string, bundle: Bundle): Promise<Outcome> {
  for (const needed of needs(bundle, all)) await apply(kubeconfig, needed);
  const first = await apply(kubeconfig, bundle);
  await crdsServed(kubeconfig);
  const second = await apply(kubeconfig, bundle);
  return { taken: new Set([...first.taken, ...second.taken]), errors: second.errors };
}

/** Discovery follows a CRD after a moment, a long one on a busy machine. */
async function crdsServed(kubeconfig: string): Promise<void> {
  const { stdout } = await kubectl(kubeconfig, 'get', 'crd', '-o', 'name');
  const names = [...stdout.matchAll(/^customresourcedefinition\S*?\/(\S+)$/gm)].map(([, name = '']) => name);
  if (names.length === 0) return;
  await until('every CRD in discovery', 60, async () => {
    const served = await must(kubeconfig, 'api-resources', '-o', 'name', '--cached=false');
    const known = new Set(served.split('\n'));
    return names.every((name) => known.has(name));
  });
}

async function apply(kubeconfig: string, bundle: Bundle): Promise<Outcome> {
  const serverSide = bundle.note.includes('--server-side') ? ['--server-side', '--force-conflicts'] : [];
  const files = bundle.files.flatMap((file) => ['-f', file]);
  const { stdout, stderr } = await kubectl(kubeconfig, 'apply', ...serverSide, ...files);
  return readOutcome(stdout, stderr);
}

/** A new child of root; the path of a kubeconfig for it. */
async function freshLogicalCluster(server: Atoll, name: string): Promise<string> {
  const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  const manifest = join(server.dataDir, `${name}.workspace.json`);
  await writeFile(manifest, JSON.stringify(workspace));
  await must(server.kubeconfig, 'apply', '-f', manifest);
  await until(`workspace ${name} ready`, 30, async () => {
    const object = await mustJson<{ status?: { phase?: string } }>(
      server.kubeconfig,
      'get',
      'workspace',
      name,
    );
    return object.status?.phase === 'Ready';
  });
  const { stdout } = await atoll(server.kubeconfig, 'kubeconfig', `root:${name}`);
  const kubeconfig = join(server.dataDir, `${name}.kubeconfig`);
  await writeFile(kubeconfig, stdout, { mode: 0o600 });
  return kubeconfig;
}

/** The names of those of mustRun whose Deployments became ready, spread over two real clusters. */
async function runToReady(server: Atoll): Promise<Set<string>> {
  const bundles = chosen.filter((bundle) => mustRun.has(bundle.name));
  const ran = new Set<string>();
  if (bundles.length === 0) return ran;
  const clusters = await Promise.all(['east', 'west'].map((name) => startKubernetes({ name, nodes: 3 })));
  try {
    for (const { name, kubeconfig } of clusters) {
      const added = await atoll(server.kubeconfig, 'cluster', 'add', name, '--kubeconfig', kubeconfig);
      if (added.code !== 0) throw new Error(added.stderr);
    }
    for (const bundle of bundles) {
      const kubeconfig = join(server.dataDir, `${bundle.name}.kubeconfig`);
      await kustomize(server, kubeconfig, bundle);
      const all = (await must(kubeconfig, 'get', 'ns', '-o', 'jsonpath={.items[*].metadata.name}')).split(
        ' ',
      );
      const users = all.filter((namespace) => !isSystemNamespace(namespace));
      await must(kubeconfig, 'annotate', 'ns', ...users, 'atoll.dev/clusters=east,west', '--overwrite');
      const ready = await becomesReady(kubeconfig).catch((error: Error) => error);
      if (ready === true) ran.add(bundle.name);
      process.stdout.write(
        `${bundle.name.padEnd(34)} ${ready === true ? 'runs on east,west' : `not ready: ${String(ready)}`}\n`,
      );
    }
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  }
  return ran;
}

async function kustomize(server: Atoll, kubeconfig: string, bundle: Bundle): Promise<void> {
  const label = mustRun.get(bundle.name);
  if (label === undefined) return;
  const dir = join(server.dataDir, `${bundle.name}.kustomize`);
  await mkdir(dir);
  await Promise.all(bundle.files.map((file) => copyFile(file, join(dir, basename(file)))));
  const resources = bundle.files.map((file) => basename(file)).join(', ');
  // What is in a namespace of the system is not placed: it runs in a user's here.
  const text = `namespace: default\nresources: [${resources}]\nlabels: [{ pairs: { ${label} }, includeSelectors: true }]\n`;
  await writeFile(join(dir, 'kustomization.yaml'), text);
  await must(kubeconfig, 'apply', '-k', dir);
}

async function becomesReady(kubeconfig: string): Promise<true> {
  interface Deployment {
    spec: { replicas: number };
    status?: { readyReplicas?: number; observedGeneration?: number };
    metadata: { namespace: string; generation: number };
  }
  return until('every Deployment ready', 90, async () => {
    const all = await mustJson<{ items: Deployment[] }>(kubeconfig, 'get', 'deploy', '-A');
    const items = all.items.filter(({ metadata }) => !isSystemNamespace(metadata.namespace));
    const ready = ({ spec, status, metadata }: Deployment) =>
      (status?.readyReplicas ?? 0) === spec.replicas && status?.observedGeneration === metadata.generation;
    return items.length > 0 && items.every(ready) ? true : undefined;
  });
}

function agrees(result: Difference | undefined): boolean {
  return result !== undefined && result.onlyAtoll.length + result.onlyKubernetes.length === 0;
}

function report(bundle: Bundle, result: Difference & { errors: string[] }): void {
  process.stdout.write(`${bundle.name.padEnd(34)} ${agrees(result) ? 'agrees' : 'differs'}\n`);
  for (const name of result.onlyAtoll) process.stdout.write(`    only Atoll takes       ${name}\n`);
  for (const name of result.onlyKubernetes) process.stdout.write(`    only Kubernetes takes  ${name}\n`);
  if (!agrees(result))
    for (const line of result.errors.slice(0, 5)) process.stdout.write(`    ${line.slice(0, 300)}\n`);
}
