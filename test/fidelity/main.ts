import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Command, Option } from 'commander';
import { type Atoll, startAtoll } from '../atoll/atoll.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import { accepted, explanationOf, unpaired } from './accepted.ts';
import { type Area, areas, type Case } from './case.ts';
import { admissionCases } from './cases/admission.ts';
import { authnCases } from './cases/authn.ts';
import { bundlesCases } from './cases/bundles.ts';
import { creatingCases } from './cases/creating.ts';
import { customCases } from './cases/custom.ts';
import { decisionsCases } from './cases/decisions.ts';
import { discoveryCases } from './cases/discovery.ts';
import { flowsCases } from './cases/flows.ts';
import { mediaCases } from './cases/media.ts';
import { narrowCases } from './cases/narrow.ts';
import { podSecurityCases } from './cases/pod-security.ts';
import { quotasCases } from './cases/quotas.ts';
import { readingCases } from './cases/reading.ts';
import { rolesCases } from './cases/roles.ts';
import { signersCases } from './cases/signers.ts';
import { statusesCases } from './cases/statuses.ts';
import { subresourcesCases } from './cases/subresources.ts';
import { toolsCases } from './cases/tools.ts';
import { transcriptsCases } from './cases/transcripts.ts';
import { validationCases } from './cases/validation.ts';
import { watchCases } from './cases/watch.ts';
import { writesCases } from './cases/writes.ts';
import { goldenObjects } from './golden.ts';
import { startIssuers } from './issuer.ts';
import { panicsAreLogged } from './panics.ts';
import { printArea, printExplained } from './report.ts';
import {
  type Exchange,
  type Found,
  makeNamespace,
  type Panic,
  runCase,
  type Servers,
  sharedNamespace,
} from './runner.ts';
import { connect } from './wire.ts';
import { logicalCluster } from './workspace.ts';

interface Options {
  area?: readonly Area[];
  only?: string[];
  seed: number;
  limit: number;
  minutes: number;
  atLeast: number;
  show: number;
  concurrency: number;
  json?: string;
  list?: boolean;
  dir?: string;
}

const program = new Command('fidelity')
  .description(
    'Sends the same requests to kube-apiserver 1.36.3 and to Atoll; prints where the answers differ.',
  )
  .argument(
    '[dir]',
    'folder with golden-1.36/, kubectl-wire/, and bundles.json or manifests/; default: objects of our own only',
  )
  .addOption(
    new Option('--area <area...>', 'only these areas; FIDELITY_AREAS, with spaces between, says the same')
      .choices(areas)
      .default(areasOf(process.env['FIDELITY_AREAS']), 'all'),
  )
  .option('--only <id...>', 'only the cases whose ids begin so; prints the exchanges that differ in full')
  .option('--seed <number>', 'another order', Number, 1)
  .option('--limit <requests>', 'stop after so many requests', Number, Number.POSITIVE_INFINITY)
  .option('--minutes <number>', 'stop after so long', Number, Number(process.env['FIDELITY_MINUTES'] ?? 10))
  .option('--at-least <requests>', 'go on beyond that until so many are sent', Number, 0)
  .option('--show <count>', 'kinds of difference to print of each area', Number, 40)
  .option('--concurrency <count>', 'cases at a time', Number, 6)
  .option(
    '--json <file>',
    'write every difference there, those that are meant with the id of their explanation',
  )
  .option('--list', 'print the ids of the cases and end')
  .parse();
const options = program.opts<Options>();
const dir = program.args[0] || undefined;

const cases = shuffle(await allCases(), options.seed);
if (options.list) {
  for (const { id } of cases.sort((a, b) => (a.id < b.id ? -1 : 1))) process.stdout.write(`${id}\n`);
} else process.exitCode = await main();

/** Throws for what is no area: a suite that ran nothing would pass. */
function areasOf(text = ''): Area[] | undefined {
  const names = text.split(/[ ,]+/).filter((name) => name !== '');
  const unknown = names.filter((name) => !areas.includes(name as Area));
  if (unknown.length > 0)
    throw new Error(`FIDELITY_AREAS: ${unknown.join(', ')}: expected ${areas.join(', ')}`);
  return names.length === 0 ? undefined : (names as Area[]);
}

async function allCases(): Promise<Case[]> {
  const golden = folder('golden-1.36');
  const wire = folder('kubectl-wire');
  const bundles = dir && existsSync(join(dir, 'bundles.json')) ? dir : folder('manifests');
  const makers: Readonly<Record<Area, () => Case[] | Promise<Case[]>>> = {
    reading: readingCases,
    watch: watchCases,
    media: mediaCases,
    discovery: discoveryCases,
    writes: () => [...writesCases(), ...podSecurityCases(), ...toolsCases()],
    admission: admissionCases,
    validation: () => [...validationCases(goldenObjects(golden)), ...statusesCases()],
    subresources: subresourcesCases,
    authn: authnCases,
    rbac: () => [
      ...rolesCases(),
      ...decisionsCases(),
      ...narrowCases(),
      ...creatingCases(),
      ...signersCases(),
    ],
    quota: quotasCases,
    flow: flowsCases,
    custom: customCases,
    transcripts: () => (wire === undefined ? [] : transcriptsCases(wire)),
    bundles: () => (bundles === undefined ? [] : bundlesCases(bundles)),
  };
  const { area = areas, only } = options;
  const all = (await Promise.all(area.map((name) => makers[name]()))).flat();
  return all.filter((item) => only?.some((id) => item.id.startsWith(id)) ?? true);
}

/** Below the argument, or below testdata/ of it. */
function folder(name: string): string | undefined {
  if (!dir) return undefined;
  return [join(dir, name), join(dir, 'testdata', name)].find((path) => existsSync(path));
}

async function main(): Promise<number> {
  let kubernetes: Kubernetes | undefined;
  let atoll: Atoll | undefined;
  const issuers = await startIssuers();
  const folder = await mkdtemp(join(tmpdir(), 'fidelity-'));
  const configuration = join(folder, 'authentication.yaml');
  await writeFile(configuration, issuers.configuration);
  const known = ['--authentication-config', configuration, '--enable-bootstrap-token-auth=true'];
  try {
    [kubernetes, atoll] = await Promise.all([
      startKubernetes({ name: 'oracle', apiOnly: true, accounts: true, flags: known }),
      startAtoll(),
    ]);
    const workspace = await logicalCluster(atoll, 'fidelity');
    // The other side has no controllers either.
    await atoll.terminate();
    await atoll.restart(['--controllers', 'api', ...known]);
    const servers = {
      kubernetes: await connect(kubernetes.kubeconfig),
      atoll: await connect(workspace),
    };
    await Promise.all(Object.values(servers).map((wire) => makeNamespace(wire, sharedNamespace)));
    const code = await runAll(servers, dirname(kubernetes.kubeconfig));
    servers.kubernetes.close();
    servers.atoll.close();
    return code;
  } catch (error) {
    if (atoll) process.stderr.write(`${atoll.log().slice(-4000)}\n`);
    throw error;
  } finally {
    issuers.close();
    await Promise.all([kubernetes?.stop(), atoll?.dispose(), rm(folder, { recursive: true })]);
  }
}

async function runAll(servers: Servers, logs: string): Promise<number> {
  const started = Date.now();
  const requests = new Map<Area, number>();
  const found: Found[] = [];
  const panics: Panic[] = [];
  let [next, total, shown] = [0, 0, started];
  const worker = async () => {
    const isOver = () => Date.now() - started >= options.minutes * 60_000 && total >= options.atLeast;
    while (next < cases.length && total < options.limit && !isOver()) {
      const number = next++;
      const item = cases[number] as Case;
      const result = await runCase(servers, item, number, (one) => explanationOf(one) !== undefined);
      total += result.requests;
      requests.set(item.area, (requests.get(item.area) ?? 0) + result.requests);
      found.push(...result.found);
      panics.push(...result.panics);
      if (options.only) printExchanges(item, result.found, result.exchanges);
      if (Date.now() - shown > 10_000) {
        shown = Date.now();
        process.stderr.write(
          `${next} of ${cases.length} cases, ${total} requests, ${found.length} differences\n`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  const code = await summarise(requests, found, total, next, started);
  return (await panicsAreLogged(panics, logs)) ? code : 1;
}

async function summarise(
  requests: Map<Area, number>,
  found: Found[],
  total: number,
  ran: number,
  started: number,
): Promise<number> {
  const explained = found.filter((item) => explanationOf(item) !== undefined);
  const unexplained = found.filter((item) => explanationOf(item) === undefined);
  for (const area of areas) {
    if (requests.has(area)) {
      printArea(
        area,
        requests.get(area) ?? 0,
        unexplained.filter((item) => item.case.area === area),
        options.show,
      );
    }
  }
  const whole = ran >= cases.length && !options.area && !options.only && dir !== undefined;
  const used = new Set(explained.map((item) => explanationOf(item)?.id));
  const unused = whole
    ? accepted.filter(({ id, timing }) => !timing && !used.has(id)).map(({ id }) => `${id} explains nothing`)
    : [];
  const problems = [...unpaired('docs/reference/differences.md'), ...unused];
  for (const problem of problems) process.stdout.write(`accepted differences: ${problem}\n`);
  if (options.json) {
    const list = found.map((difference) => {
      const { case: item, ...rest } = difference;
      return { id: item.id, ...rest, explained: explanationOf(difference)?.id };
    });
    await writeFile(options.json, JSON.stringify(list, undefined, 1));
  }
  printExplained(explained);
  const seconds = Math.round((Date.now() - started) / 1000);
  const differing = new Set(unexplained.map((item) => `${item.case.id} ${item.step}`)).size;
  process.stdout.write(
    `\n${ran} of ${cases.length} cases, ${total} requests to each server in ${seconds} s: ${differing} differ unexplained, ` +
      `${explained.length} differences explained\n${ran} passed, ${differing + problems.length} failed\n`,
  );
  // Once more, where whoever sees but the end of this looks.
  for (const { case: item, step, request, path } of unexplained.slice(0, options.show))
    process.stdout.write(`differs: ${item.id} step ${step} ${request} ${path}\n`);
  return differing + problems.length === 0 ? 0 : 1;
}

function printExchanges(item: Case, found: readonly Found[], exchanges: readonly Exchange[]): void {
  for (const [step, { request, kubernetes, atoll }] of exchanges.entries()) {
    const differences = found.filter((difference) => difference.step === step);
    if (differences.length === 0) continue;
    const body = request.body instanceof Uint8Array ? `${request.body.length} bytes` : request.body;
    process.stdout.write(`\n${item.id} step ${step}: ${request.method} ${request.path}\n`);
    process.stdout.write(`  accept ${request.accept ?? '-'} content-type ${request.contentType ?? '-'}\n`);
    if (body !== undefined) {
      process.stdout.write(
        `  body ${(typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 3000)}\n`,
      );
    }
    process.stdout.write(
      `  kubernetes ${kubernetes.status} ${kubernetes.body.toString('utf8').slice(0, 4000).trim()}\n`,
    );
    process.stdout.write(
      `  atoll      ${atoll.status} ${atoll.body.toString('utf8').slice(0, 4000).trim()}\n`,
    );
    for (const { path, kubernetes: theirs, atoll: ours } of differences) {
      process.stdout.write(`  ${path}: kubernetes ${theirs} | atoll ${ours}\n`);
    }
  }
}

/** The same order for the same seed: a slice of the suite has some of everything. */
function shuffle<T>(items: T[], seed: number): T[] {
  let state = seed >>> 0 || 1;
  for (let i = items.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = state % (i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}
