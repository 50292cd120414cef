import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSession, sessions } from './session.ts';

/** node dist/test/clients/main.js KUBECTL THEIR-KUBECONFIG OUR-KUBECONFIG [SESSION...]: prints what differs. */
const [kubectl = '', theirs = '', ours = '', ...chosen] = process.argv.slice(2);
const dir = await mkdtemp(join(tmpdir(), 'atoll-clients-'));
let failed = 0;
for (const session of chosen.length > 0 ? chosen : await sessions()) {
  const started = Date.now();
  const { steps, differences } = await runSession({
    kubectl,
    session,
    namespace: `s${Date.now().toString(36)}${session}`,
    theirs: { kubeconfig: theirs, dir: join(dir, 'theirs') },
    ours: { kubeconfig: ours, dir: join(dir, 'ours') },
    onExplained: (line) => console.log(`may differ: ${line}`),
    onDifference: (d) => console.log(`\n##### ${d.session}: ${d.line}\n${diff(d.theirs, d.ours)}`),
  });
  failed += differences.length;
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(`${session}: ${steps} commands, ${differences.length} differ, ${seconds} s`);
}
await rm(dir, { recursive: true, force: true });
process.exitCode = failed > 0 ? 1 : 0;

/** Lines that only one side has. */
function diff(theirs: string, ours: string): string {
  const [a, b] = [theirs.split('\n'), ours.split('\n')];
  const only = (lines: string[], other: string[], mark: string) =>
    lines.filter((line) => !other.includes(line)).map((line) => `${mark} ${line}`);
  const found = [...only(a, b, '-'), ...only(b, a, '+')];
  return (found.length > 0 ? found : ['(order or count of lines)', theirs, '+++', ours]).join('\n');
}
