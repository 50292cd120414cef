import { Command, CommanderError, Option } from 'commander';
import { atollVersion } from '../server/version.ts';
import { backupCommand } from './commands/backup.ts';
import { clusterCommand } from './commands/cluster.ts';
import { demoCommand } from './commands/demo.ts';
import { cordonCommand, drainCommand, uncordonCommand, undrainCommand } from './commands/drain.ts';
import { explainCommand } from './commands/explain.ts';
import { kubeconfigCommand } from './commands/kubeconfig.ts';
import { loginCommand } from './commands/login.ts';
import { logoutCommand } from './commands/logout.ts';
import { planCommand } from './commands/plan.ts';
import { rebalanceCommand } from './commands/rebalance.ts';
import { startCommand } from './commands/start.ts';
import { restoreCommand, storeCommand } from './commands/store.ts';
import { tokenKeysCommand } from './commands/token-keys.ts';
import { versionCommand } from './commands/version.ts';
import { explained, InterruptedError, ToldError } from './errors.ts';

const examples = `
Examples:
  atoll demo                                    # everything at once, nothing else needed
  atoll start --data-dir ./data                 # the server alone
  atoll cluster add east --kubeconfig east.yaml # join a physical cluster
  kubectl annotate deploy web atoll.dev/clusters=east,west --overwrite
  atoll plan drain east                         # what a drain would move, and what cannot
  atoll drain east                              # move everything away, without a dip
  atoll rebalance                               # what is placed freely, to where there is more room
  atoll explain deployment/web -n shop          # where it is, who asked for that, what it waits for
`;

export function program(): Command {
  const atoll = new Command('atoll')
    .description('Many clusters, one API: a Kubernetes-compatible API server with logical clusters.')
    .addOption(
      new Option(
        '--atoll-kubeconfig <FILE>',
        'how to reach Atoll; else what KUBECONFIG names, else admin.kubeconfig in the data directory (ATOLL_DATA_DIR)',
      ).env('ATOLL_KUBECONFIG'),
    )
    .addHelpText('after', examples)
    .addHelpText('beforeAll', ({ command }) => insistOn(command))
    .version(atollVersion(), '--version', 'what `atoll version` says, in one word')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const commands = [
    startCommand(),
    demoCommand(),
    clusterCommand(),
    cordonCommand(),
    uncordonCommand(),
    drainCommand(),
    undrainCommand(),
    rebalanceCommand(),
    planCommand(),
    explainCommand(),
    kubeconfigCommand(),
    loginCommand(),
    logoutCommand(),
    tokenKeysCommand(),
    backupCommand(),
    restoreCommand(),
    storeCommand(),
    versionCommand(),
  ];
  for (const command of commands) atoll.addCommand(command);
  inherit(atoll);
  return atoll;
}

/** Help is of commands that there are: of others it would say that they are none of these. */
function insistOn(command: Command): string {
  const [first, second] = command.args;
  const asked = (first === 'help' ? second : first) ?? '';
  const isKnown = command.commands.some((one) => one.name() === asked || one.aliases().includes(asked));
  if (command.commands.length > 0 && /^[^-]/.test(asked) && !isKnown)
    command.error(`error: unknown command '${asked}'`);
  return '';
}

/** Commands that were made before they were added know nothing of the settings above them. */
function inherit(from: Command, path = from.name()): void {
  const says = from.commands.length > 0 ? 'lists the commands' : 'says more';
  from.showHelpAfterError(`(${path} --help ${says})`);
  for (const command of from.commands)
    inherit(command.copyInheritedSettings(from), `${path} ${command.name()}`);
}

/** Exit codes: 0 done, 1 could not be done, 2 wrong use, 130 stopped by Ctrl-C. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(argv as string[]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof ToldError) return error.exitCode;
    if (error instanceof InterruptedError) return interrupted(error.message);
    const said = explained(error);
    if (said) return complain(said.message, said.exitCode);
    process.stderr.write(`${(error as Error)?.stack ?? String(error)}\n`);
    return 1;
  }
}

function interrupted(message: string): number {
  process.stderr.write(`\n${message}\n`);
  return 130;
}

function complain(message: string, code: number): number {
  process.stderr.write(`error: ${message}\n`);
  return code;
}
