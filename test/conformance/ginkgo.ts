import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { kubectl, programs } from '../kubernetes/kubernetes.ts';

/** What became of one spec; only `passed` is good. */
export interface Outcome {
  name: string;
  /** Ginkgo's word, or `not run`. */
  state: string;
  seconds: number;
  message: string;
}

export interface RunOptions {
  kubeconfig: string;
  /** Folder for logs and reports. */
  out: string;
  /** After so long without an end of a spec the one that runs is interrupted, and failed. */
  specSeconds: number;
  /** Called when a spec ends, whatever became of it. */
  ended?: () => void;
  /** When to end, in milliseconds since 1970; what has not run by then has failed. */
  deadline: number;
}

/** Runs these specs, `parallel` at a time. */
export async function runSpecs(
  id: string,
  names: readonly string[],
  parallel: number,
  options: RunOptions,
): Promise<Outcome[]> {
  const shares = Array.from({ length: parallel }, (_, worker) =>
    names.filter((_, i) => i % parallel === worker),
  );
  return (await Promise.all(shares.map((share, i) => runShare(`${id}-${i + 1}`, share, options)))).flat();
}

/** One after another; again for the rest, in a new process, after one that had to be interrupted. */
async function runShare(id: string, names: readonly string[], options: RunOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let left = names;
  for (let round = 1; left.length > 0 && Date.now() < options.deadline; round++) {
    const ended = await runOnce(`${id}-${round}`, left, options);
    if (ended.length === 0) break;
    outcomes.push(...ended);
    const done = new Set(ended.map(({ name }) => name));
    left = left.filter((name) => !done.has(name));
  }
  const never = left.map((name) => ({ name, state: 'not run', seconds: 0, message: '' }));
  return [...outcomes, ...never];
}

async function runOnce(id: string, names: readonly string[], options: RunOptions): Promise<Outcome[]> {
  const report = join(options.out, `${id}.json`);
  const child = spawn(join(programs, 'e2e.test'), flags(names, report, options), {
    env: { ...process.env, KUBECONFIG: options.kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(join(options.out, `${id}.log`));
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const stopWatching = interruptWhenStuck(child, options);
  await once(child, 'close');
  stopWatching();
  log.end();
  return readReport(report, new Set(names));
}

/**
 * A spec that begins is a line with its name, one that ends is a line that begins with a dot, or with an S where it was
 * skipped. Until the first one begins the program only reads itself, which takes long on a busy machine.
 */
function interruptWhenStuck(child: ChildProcess, { specSeconds: seconds, ended }: RunOptions): () => void {
  const moves = /^(\[sig-|(•|S) \[)/;
  let since = Date.now() + 300_000;
  child.stdout?.setEncoding('utf8');
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (!moves.test(line)) return;
      since = Date.now();
      if (!line.startsWith('[sig-')) ended?.();
    });
  }
  let told = false;
  const timer = setInterval(() => {
    const late = (Date.now() - since) / 1000 - seconds;
    // Its report alone takes a while on a busy machine.
    if (late > 120) child.kill('SIGKILL');
    // Told again, it would leave what it cleans up, then the report.
    else if (late > 0 && !told) told = child.kill('SIGTERM');
  }, 5000);
  return () => clearInterval(timer);
}

function flags(names: readonly string[], report: string, options: RunOptions): string[] {
  const seconds = Math.max(1, Math.round((options.deadline - Date.now()) / 1000));
  return [
    `--kubeconfig=${options.kubeconfig}`,
    `--kubectl-path=${kubectl}`,
    '--provider=skeleton',
    // No kubelet runs anything that the suite would wait for before its first spec.
    '--allowed-not-ready-nodes=100',
    '--minStartupPods=0',
    '--system-pods-startup-timeout=5s',
    '--system-daemonsets-startup-timeout=5s',
    '--node-schedulable-timeout=20s',
    '--disable-log-dump',
    '--dump-logs-on-failure=false',
    '--ginkgo.v',
    '--ginkgo.no-color',
    '--ginkgo.seed=1',
    '--ginkgo.grace-period=5s',
    `--ginkgo.timeout=${seconds}s`,
    `--ginkgo.json-report=${report}`,
    ...names.map((name) => `--ginkgo.focus=(^| )${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`),
  ];
}

interface SpecReport {
  ContainerHierarchyTexts: string[] | null;
  LeafNodeType: string;
  LeafNodeText: string;
  State: string;
  RunTime: number;
  Failure?: { Message?: string };
}

interface Suite {
  SpecReports: SpecReport[] | null;
}

function parsed(text: string): Suite[] {
  try {
    return JSON.parse(text) as Suite[];
  } catch {
    return []; // cut short
  }
}

/** Nothing where there is no report: the program ended before its time. */
async function readReport(file: string, names: ReadonlySet<string>): Promise<Outcome[]> {
  const text = await readFile(file, 'utf8').catch(() => '[]');
  await rm(file, { force: true }); // 13 MB: it tells of every spec that did not run, too
  const suites = parsed(text);
  const outcomes: Outcome[] = [];
  for (const spec of suites.flatMap(({ SpecReports }) => SpecReports ?? [])) {
    const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ');
    if (spec.LeafNodeType !== 'It' || !names.has(name) || isLeft(spec)) continue;
    const message = spec.Failure?.Message ?? '';
    outcomes.push({ name, state: spec.State, seconds: spec.RunTime / 1e9, message });
  }
  return outcomes;
}

/** After an interruption, those that had not begun are in the report too, as skipped without a reason. */
function isLeft({ State, RunTime }: SpecReport): boolean {
  return State === 'skipped' && RunTime === 0;
}
