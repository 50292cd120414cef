import { Command, Option } from 'commander';
import { connect, placeAsked } from '../connection.ts';
import { UsageError } from '../errors.ts';
import type { PlanFormat } from '../plan.ts';
import type { Global } from './options.ts';

interface Flags extends Omit<Global, 'output'> {
  output: PlanFormat;
  filename?: string;
  logicalCluster?: string;
  namespace?: string;
}

const examples = `
Nothing is changed: the server decides on a copy, as its scheduler would. It takes an administrator's kubeconfig.

Examples:
  atoll plan drain east
  atoll plan drain east -o json
  atoll plan rebalance
  atoll plan -f web.yaml --logical-cluster root:team-a -n shop
  kubectl get physicalcluster west -o yaml | sed 's/unschedulable: true/unschedulable: false/' | atoll plan -f -`;

/** atoll plan -f FILE, atoll plan drain NAME, atoll plan rebalance NAME... */
export function planCommand(): Command {
  return new Command('plan')
    .description('say what would move where, and what cannot and why, before it is done')
    .option(
      '-f, --filename <FILE>',
      'were this applied: workloads, Namespaces, PhysicalClusters; - for stdin',
    )
    .option('--logical-cluster <PATH>', 'in which it would be applied; default that of the kubeconfig')
    .option('-n, --namespace <NAME>', "of what says none itself; default that of the kubeconfig's context")
    .addOption(
      new Option('-o, --output <FORMAT>', 'how to print').choices(['table', 'json', 'yaml']).default('table'),
    )
    .addHelpText('after', examples)
    .addCommand(planDrainCommand())
    .addCommand(planRebalanceCommand())
    .action(async (_local, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { filename, output } = flags;
      if (filename === undefined) throw new UsageError('what to plan? -f FILE, or atoll plan drain NAME');
      const { planFile, readManifests } = await import('../plan.ts');
      const manifests = readManifests(filename);
      const where = placeAsked(flags);
      await planFile(await connect(flags.atollKubeconfig), manifests, where, output);
    });
}

function planDrainCommand(): Command {
  return new Command('drain')
    .argument('<NAME>')
    .description('what atoll drain NAME would move, and what would stay')
    .addHelpText('after', '\nExamples:\n  atoll plan drain east\n  atoll plan drain east -o yaml')
    .action(async (name: string, _local, command: Command) => {
      const { filename, output, atollKubeconfig } = command.optsWithGlobals<Flags>();
      if (filename !== undefined) throw new UsageError('-f and drain are two plans: ask for one');
      const { planDrain } = await import('../plan.ts');
      await planDrain(await connect(atollKubeconfig), name, output);
    });
}

function planRebalanceCommand(): Command {
  return new Command('rebalance')
    .argument('[NAME...]')
    .description('what atoll rebalance NAME... would move')
    .addHelpText('after', '\nExamples:\n  atoll plan rebalance\n  atoll plan rebalance east -o json')
    .action(async (names: string[], _local, command: Command) => {
      const { filename, output, atollKubeconfig } = command.optsWithGlobals<Flags>();
      if (filename !== undefined) throw new UsageError('-f and rebalance are two plans: ask for one');
      const { planRebalance } = await import('../plan.ts');
      await planRebalance(await connect(atollKubeconfig), names, output);
    });
}
