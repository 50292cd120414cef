import { Command } from 'commander';
import { connect } from '../connection.ts';
import { addOutput, type Global, secondsOf } from './options.ts';

export function rebalanceCommand(): Command {
  return addOutput(new Command('rebalance').argument('[NAME...]'))
    .description(
      'have what need not be on these physical clusters leave for where there is clearly more room, make before break; all that are ready and not cordoned by default',
    )
    .option('--dry-run', 'only say what would move where, as atoll plan rebalance NAME... does')
    .option('--timeout <SECONDS>', 'give up after this long; what is on its way goes on', '3600')
    .addHelpText(
      'after',
      '\nWhat is placed freely moves, a Namespace at a time and whole, where ten points of a hundred more are free; what somebody has placed,\nwhat holds data and what may not run twice stays. It is spec.rebalance while this runs; set by kubectl, it stays so.\n\nExits 0 when nothing moves and nothing is due, 1 after its time, 130 after Ctrl-C, which ends the rebalance: the same command again\ngoes on.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  atoll rebalance\n  atoll rebalance east --dry-run\n  atoll rebalance east west --timeout 600 -o json',
    )
    .action(async (names: string[], _local, command: Command) => {
      const options = command.optsWithGlobals<Global & { timeout: string; dryRun?: boolean }>();
      const timeoutSeconds = secondsOf('--timeout', options.timeout);
      const client = await connect(options.atollKubeconfig);
      if (options.dryRun) {
        const { planRebalance } = await import('../plan.ts');
        return await planRebalance(client, names, options.output === 'json' ? 'json' : 'table');
      }
      const { rebalance } = await import('../rebalance.ts');
      const stop = new AbortController();
      // However it is ended: what it has set is taken back.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
      await rebalance(client, names, { timeoutSeconds, output: options.output, signal: stop.signal });
    });
}
