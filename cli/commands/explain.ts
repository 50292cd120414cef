import { Command } from 'commander';
import { connect, placeAsked } from '../connection.ts';
import { addOutput, type Global } from './options.ts';

interface Flags extends Global {
  logicalCluster?: string;
  namespace?: string;
}

const examples = `
It reads what you may read, as you: your own kubeconfig is enough. What you may not read is left out, and said to be.

Examples:
  atoll explain deployment/web -n shop
  atoll explain sts db -n shop --logical-cluster root:team-a
  atoll explain deploy/web -o json`;

/** atoll explain KIND/NAME. */
export function explainCommand(): Command {
  return addOutput(new Command('explain').argument('<KIND/NAME...>', 'such as deployment/web'))
    .description('say where an object is, who asked for that, why not elsewhere, and what it waits for')
    .option('-n, --namespace <NAME>', "default that of the kubeconfig's context")
    .option('--logical-cluster <PATH>', 'default that of the kubeconfig')
    .addHelpText('after', examples)
    .action(async (words: string[], _local, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { parseNamed } = await import('../explain/kinds.ts');
      const named = parseNamed(words);
      const where = placeAsked(flags);
      const { explain } = await import('../explain/explain.ts');
      await explain(await connect(flags.atollKubeconfig), named, where, flags.output);
    });
}
