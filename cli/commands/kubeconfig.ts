import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { isLogicalClusterName, rootCluster } from '../../cluster/names.ts';
import { connect, findKubeconfig } from '../connection.ts';
import { UsageError } from '../errors.ts';
import { print } from '../output.ts';
import type { Global } from './options.ts';

export function kubeconfigCommand(): Command {
  return new Command('kubeconfig')
    .description('print a kubeconfig for a logical cluster')
    .argument('[LOGICAL_CLUSTER]', 'such as root:team-a', rootCluster)
    .addHelpText(
      'after',
      '\nExamples:\n  atoll kubeconfig > ~/.kube/atoll\n  atoll kubeconfig root:team-a > team-a.yaml',
    )
    .action(async (cluster: string, _local, command: Command) => {
      if (!isLogicalClusterName(cluster))
        throw new UsageError(`"${cluster}" is not a logical cluster's name, such as root:team-a`);
      const { atollKubeconfig } = command.optsWithGlobals<Global>();
      const file = findKubeconfig(atollKubeconfig);
      // The root is always there: its kubeconfig can be had without a server.
      if (cluster !== rootCluster) {
        const { insist } = await import('../logical-clusters.ts');
        await insist(await connect(atollKubeconfig), cluster);
      }
      const { forLogicalCluster } = await import('../../server/kubeconfig.ts');
      print(forLogicalCluster(readFileSync(file, 'utf8'), cluster).trimEnd());
    });
}
