import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonFor } from './explained.ts';
import { normalise } from './normalise.ts';

const folder = new URL('./session/', import.meta.url).pathname.replace('/dist/test/', '/test/');

export interface Side {
  kubeconfig: string;
  /** A folder of its own: manifests, kubectl's cache. */
  dir: string;
}

export interface Step {
  line: string;
  args: string[];
  env: Record<string, string>;
  /** It changes something: it runs once. Others run until both sides say the same. */
  once: boolean;
  endAfter: number | undefined;
}

export interface Difference {
  session: string;
  line: string;
  theirs: string;
  ours: string;
}

export interface SessionOptions {
  kubectl: string;
  theirs: Side;
  ours: Side;
  /** `apply` of session/apply.txt. */
  session: string;
  namespace: string;
  /** How long what is read may take to become the same; default 15 000. */
  settleMs?: number;
  onDifference?: (difference: Difference) => void;
  /** Told of a line that does differ, and may. */
  onExplained?: (line: string) => void;
}

export async function sessions(): Promise<string[]> {
  const files = await readdir(folder);
  return files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4));
}

/** Runs one session of kubectl against Kubernetes and against Atoll at the same time; answers what differs unexplained. */
export async function runSession(
  options: SessionOptions,
): Promise<{ steps: number; differences: Difference[] }> {
  const { kubectl, theirs, ours, session, namespace, settleMs = 15_000 } = options;
  const fill = (text: string) => text.replaceAll('$NS', namespace);
  const steps = parse(fill(await readFile(join(folder, `${session}.txt`), 'utf8')));
  for (const side of [theirs, ours]) await prepare(side, fill);
  const run = (side: Side, step: Step) => runStep(kubectl, side, namespace, step);
  const setup: Step = {
    line: '',
    args: ['create', 'ns', namespace],
    env: {},
    once: true,
    endAfter: undefined,
  };
  await Promise.all([run(theirs, setup), run(ours, setup)]);
  const ready: Step = { ...setup, args: ['get', 'sa', 'default'] };
  for (
    let n = 0;
    n < 50 && (await Promise.all([run(theirs, ready), run(ours, ready)])).some((s) => !s.startsWith('0'));
    n++
  )
    await pause(200);
  const differences: Difference[] = [];
  for (const step of steps) {
    const deadline = Date.now() + settleMs;
    for (;;) {
      const [there, here] = await Promise.all([run(theirs, step), run(ours, step)]);
      if (there === here) break;
      if (reasonFor(step.line, kubectl) !== undefined) {
        options.onExplained?.(step.line);
        break;
      }
      if (!step.once && Date.now() < deadline) {
        await pause(300);
        continue;
      }
      const difference = { session, line: step.line, theirs: there, ours: here };
      differences.push(difference);
      options.onDifference?.(difference);
      break;
    }
  }
  const end = { ...setup, args: ['delete', 'ns', namespace, '--wait=false', '--ignore-not-found'] };
  await Promise.all([run(theirs, end), run(ours, end)]);
  return { steps: steps.length, differences };
}

/** One line: `NAME=value… !args`, `&3 args`; words may be quoted as in a shell. */
export function parse(text: string): Step[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const all = words(line);
    const env: Record<string, string> = {};
    let args = all;
    for (
      let match = /^([A-Z_]+)=(.*)$/s.exec(args[0] ?? '');
      match;
      match = /^([A-Z_]+)=(.*)$/s.exec(args[0] ?? '')
    ) {
      env[match[1] ?? ''] = match[2] ?? '';
      args = args.slice(1);
    }
    const ends = /^&(\d+)$/.exec(args[0] ?? '');
    if (ends) args = args.slice(1);
    const once = args[0]?.startsWith('!') ?? false;
    if (once) args = [(args[0] ?? '').slice(1), ...args.slice(1)];
    return { line, args, env, once, endAfter: ends ? Number(ends[1]) : undefined };
  });
}

/** Double quotes group only when they open a word or follow `=`; elsewhere they are JSON's or a template's. */
function words(line: string): string[] {
  const found: string[] = [];
  let word = '';
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i] ?? '';
    if (c === '\\' && line[i + 1] === ' ') word += line[++i];
    else if (c === '"' && quoted && (line[i + 1] ?? ' ') === ' ') quoted = false;
    else if (c === '"' && !quoted && (word === '' || /^[A-Z_]+=$/.test(word))) quoted = true;
    else if (c === ' ' && !quoted) {
      if (word !== '') found.push(word);
      word = '';
    } else word += c;
  }
  if (word !== '') found.push(word);
  return found;
}

async function prepare(side: Side, fill: (text: string) => string): Promise<void> {
  await rm(side.dir, { recursive: true, force: true });
  await mkdir(side.dir, { recursive: true });
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.txt'))
      await writeFile(join(side.dir, file), fill(await readFile(join(folder, file), 'utf8')));
  }
}

/** A busy machine: the request was not even sent. */
const notConnected = /TLS handshake timeout/;
const connects = 4;

async function runStep(kubectl: string, side: Side, namespace: string, step: Step): Promise<string> {
  for (let tries = 1; ; tries++) {
    const said = await runOnce(kubectl, side, namespace, step);
    if (!notConnected.test(said) || tries === connects) return said;
  }
}

async function runOnce(kubectl: string, side: Side, namespace: string, step: Step): Promise<string> {
  const given = step.args.some((arg) => arg.startsWith('--namespace'));
  const flags = ['--kubeconfig', side.kubeconfig, '--cache-dir', join(side.dir, '.cache')];
  const where = given ? [] : ['--namespace', namespace];
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: side.dir,
    TZ: 'UTC',
    KUBE_EDITOR: 'true',
    ...step.env,
  };
  // Before `--`, where there is one: what follows it is a command.
  const child = spawn(kubectl, [...flags, ...where, ...step.args], {
    cwd: side.dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), (step.endAfter ?? 60) * 1000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  const said = normalise(
    `${code ?? (step.endAfter ? 'ended' : 'timeout')}\n${stdout}${stderr === '' ? '' : `--- stderr\n${stderr}`}`,
  );
  return step.args[0] === 'explain' ? withoutProse(said) : said;
}

/** Descriptions come from the typings of a client library: only structure is compared. */
function withoutProse(said: string): string {
  const structure = /^(\d+|--- stderr|error: .*|[A-Z]+:.*)$|<(?!no description>)[^>]+>/;
  const lines = said.split('\n').filter((line) => structure.test(line) && !line.includes('://'));
  return lines.join('\n');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
