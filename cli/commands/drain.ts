import { Command } from 'commander';
import { connect } from '../connection.ts';
import { addOutput, countOf, type Global, secondsOf } from './options.ts';

export function cordonCommand(): Command {
  return addOutput(new Command('cordon').argument('<NAME>'))
    .description('place nothing new on a physical cluster; what is there stays')
    .addHelpText('after', '\nExamples:\n  atoll cordon east')
    .action((name: string, _local, command: Command) => schedulable(name, false, command));
}

export function uncordonCommand(): Command {
  return addOutput(new Command('uncordon').argument('<NAME>'))
    .description('take a cordon or a drain back')
    .addHelpText('after', '\nExamples:\n  atoll uncordon east')
    .action((name: string, _local, command: Command) => schedulable(name, true, command));
}

export function undrainCommand(): Command {
  return addOutput(new Command('undrain').argument('<NAME>'))
    .description('take a drain back: what has not left stays; the physical cluster stays cordoned')
    .addHelpText('after', '\nExamples:\n  atoll undrain east\n  atoll undrain east && atoll uncordon east')
    .action(async (name: string, _local, command: Command) => {
      const options = command.optsWithGlobals<Global>();
      const { undrain } = await import('../drain.ts');
      await undrain(await connect(options.atollKubeconfig), name, options.output);
    });
}

async function schedulable(name: string, yes: boolean, command: Command): Promise<void> {
  const options = command.optsWithGlobals<Global>();
  const { setSchedulable } = await import('../drain.ts');
  await setSchedulable(await connect(options.atollKubeconfig), name, yes, options.output);
}

export function drainCommand(): Command {
  return addOutput(new Command('drain').argument('<NAME>'))
    .description('cordon a physical cluster and move every workload away, make before break')
    .option('--dry-run', 'only say what would move where, and what cannot, as atoll plan drain NAME does')
    .option(
      '--concurrent <N>',
      'let so many workloads leave at a time; it stays so for the cluster (spec.drainConcurrent)',
    )
    .option('--timeout <SECONDS>', 'give up after this long; the move itself goes on', '600')
    .addHelpText(
      'after',
      '\nExits 0 when the cluster holds nothing of ours, 1 with the reasons when something cannot leave, 130 after Ctrl-C,\nwhich ends the waiting and not the drain: the same command again goes on waiting.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  atoll drain east\n  atoll drain east --timeout 60 -o json\n  atoll drain east --dry-run',
    )
    .action(async (name: string, _local, command: Command) => {
      const options = command.optsWithGlobals<
        Global & { timeout: string; dryRun?: boolean; concurrent?: string }
      >();
      const concurrent =
        options.concurrent === undefined ? undefined : countOf('--concurrent', options.concurrent);
      const timeoutSeconds = secondsOf('--timeout', options.timeout);
      const client = await connect(options.atollKubeconfig);
      if (options.dryRun) {
        const { planDrain } = await import('../plan.ts');
        return await planDrain(client, name, options.output === 'json' ? 'json' : 'table');
      }
      const { drain } = await import('../drain.ts');
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      await drain(client, name, { timeoutSeconds, concurrent, output: options.output, signal: stop.signal });
    });
}
