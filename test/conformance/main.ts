import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { type Outcome, runSpecs } from './ginkgo.ts';
import { startServer } from './servers.ts';
import { isAsExpected, readSpecs, type Section, sections } from './specs.ts';

interface Options {
  section: Section;
  only: RegExp;
  parallel: number;
  specSeconds?: number;
  minutes: number;
  out?: string;
  failing?: boolean;
}

/** How often a run says how far it is. */
const tellMs = 30_000;

/** For those that are expected to fail, however late it is: one that did not run has not failed as expected. */
const failingMs = 10 * 60_000;

const options = new Command('conformance')
  .description(
    "Runs those of Kubernetes' own end-to-end specs that need no kubelet against Atoll; fails where what passes is not what is expected.",
  )
  .addOption(new Option('--section <letter>', 'the list').env('SECTION').choices(sections).default('A'))
  .addOption(
    new Option('--only <regexp>', 'of the list, the names that match')
      .env('ONLY')
      .default(/./, 'all')
      .argParser((text) => new RegExp(text)),
  )
  .addOption(new Option('--parallel <count>', 'at a time').env('PARALLEL').default(2).argParser(Number))
  .option(
    '--spec-seconds <count>',
    'a spec that takes longer has failed; default: 120, of sections E and F 600',
    Number,
  )
  .option('--minutes <count>', 'what should pass and has not run by then has failed', Number, 30)
  .addOption(
    new Option('--failing', 'also those that are expected to fail: whether they still do').env('FAILING'),
  )
  .addOption(new Option('--out <dir>', 'for logs and reports').env('OUT').default(undefined, 'a new one'))
  .parse()
  .opts<Options>();
process.exitCode = await main();

async function main(): Promise<number> {
  const { section, only, parallel, minutes } = options;
  const { specSeconds = ['E', 'F'].includes(section) ? 600 : 120 } = options;
  const { names, expectedToFail } = await readSpecs(resolve('test/conformance'), section, only);
  if (names.length === 0) throw new Error(`no spec of section ${section} matches ${only}`);
  const out = options.out === undefined ? await mkdtemp(join(tmpdir(), 'atoll-conformance-')) : options.out;
  await mkdir(out, { recursive: true });
  const running = names.filter((name) => options.failing || !expectedToFail.has(name)).length;
  const started = Date.now();
  const server = await startServer(section);
  let count = 0;
  const telling = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    process.stdout.write(`${count} of ${running} specs have ended, ${seconds} s\n`);
  }, tellMs);
  try {
    const deadline = started + minutes * 60_000;
    const ended = () => void count++;
    const run = { kubeconfig: server.kubeconfig, out: resolve(out), specSeconds, deadline, ended };
    const outcomes = await runSpecs(
      'run',
      names.filter((name) => !expectedToFail.has(name)),
      parallel,
      run,
    );
    // What fails mostly waits for what does not come, so that many can wait at once, and not for long.
    const failing = names.filter((name) => expectedToFail.has(name));
    const late = { specSeconds: 30, deadline: Math.max(deadline, Date.now() + failingMs) };
    if (options.failing)
      outcomes.push(...(await runSpecs('failing', failing, 3 * parallel, { ...run, ...late })));
    else
      process.stdout.write(`${failing.length} are expected to fail, and were not run: --failing runs them\n`);
    process.stdout.write(`logs in ${out}, ${Math.round((Date.now() - started) / 1000)} s\n`);
    return report(outcomes, expectedToFail);
  } finally {
    clearInterval(telling);
    await writeFile(join(out, 'atoll.log'), server.log());
    await server.stop();
  }
}

/** Prints what did not pass, with the reason; the exit code. */
function report(outcomes: readonly Outcome[], expectedToFail: ReadonlySet<string>): number {
  let [passed, unexpected] = [0, 0];
  for (const { name, state, seconds, message } of outcomes) {
    const isExpected = isAsExpected(state, expectedToFail.has(name));
    if (state === 'passed') passed++;
    if (!isExpected) unexpected++;
    if (state === 'passed' && isExpected) continue;
    const verdict = isExpected ? 'expected' : 'UNEXPECTED';
    process.stdout.write(
      `${verdict.padEnd(10)} ${state.padEnd(11)} ${seconds.toFixed(0).padStart(3)} s  ${name}\n`,
    );
    if (state !== 'passed') process.stdout.write(`${reason(message)}\n`);
  }
  if (unexpected > 0) {
    process.stdout.write(
      'what passes now is taken off test/conformance/expected-failures-*.txt, what fails is mended\n',
    );
  }
  process.stdout.write(
    `${passed} passed, ${outcomes.length - passed} failed, ${unexpected} not as expected\n`,
  );
  return unexpected === 0 ? 0 : 1;
}

function reason(message: string): string {
  const text = message.replace(/\s+/g, ' ').trim();
  return `    ${text.length > 400 ? `${text.slice(0, 400)} ...` : text}`;
}
