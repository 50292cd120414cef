import { Command } from 'commander';
import { isLogicalClusterName } from '../../cluster/names.ts';
import type { InClusterConfig } from '../../cluster/types.ts';
import { connect } from '../connection.ts';
import { UsageError } from '../errors.ts';
import { certificatesIn } from '../files.ts';
import { addOutput, type Global, secondsOf } from './options.ts';

/** atoll cluster add|list|remove */
export function clusterCommand(): Command {
  const cluster = new Command('cluster').description('join, list and forget physical clusters');
  addCommand(cluster);
  addOutput(cluster.command('list'))
    .alias('ls')
    .description('the physical clusters and how they are')
    .addHelpText('after', '\nExamples:\n  atoll cluster list\n  atoll cluster list -o json')
    .action(async (_local, command: Command) => {
      const options = command.optsWithGlobals<Global>();
      const { listClusters } = await import('../cluster.ts');
      await listClusters(await connect(options.atollKubeconfig), options.output);
    });
  cluster
    .command('remove <NAME>')
    .aliases(['rm', 'delete'])
    .description('remove a physical cluster that holds nothing of ours any more')
    .option('--forget', 'also one that does: what can move moves first if it answers, the rest stays there')
    .option('--force', 'the same as --forget')
    .option('--wait <SECONDS>', 'how long to wait until it is gone; the removal itself goes on', '600')
    .addHelpText(
      'after',
      '\nExamples:\n  atoll drain east && atoll cluster remove east\n  atoll cluster remove east --forget   # it is lost, with what it runs',
    )
    .action(async (name: string, _local, command: Command) => {
      const options = command.optsWithGlobals<Global & RemoveFlags>();
      const forget = options.forget === true || options.force === true;
      const waitSeconds = secondsOf('--wait', options.wait);
      const { removeCluster } = await import('../remove.ts');
      await removeCluster(await connect(options.atollKubeconfig), name, { forget, waitSeconds });
    });
  return cluster;
}

function addCommand(cluster: Command): void {
  addOutput(cluster.command('add <NAME>'))
    .description('join a physical cluster')
    .requiredOption('--kubeconfig <FILE>', 'how to reach the physical cluster')
    .option('--context <NAME>', "that kubeconfig's context; its current one by default")
    .option(
      '--label <KEY=VALUE...>',
      'labels of the PhysicalCluster, such as topology.kubernetes.io/region=eu',
    )
    .option(
      '--network <NAME>',
      "the pod network that it has in common with other clusters (spec.network); '' takes it away",
    )
    .option(
      '--copier <NAME>',
      "who copies volumes between it and clusters that name the same (spec.copier); '' takes it away",
    )
    .option(
      '--in-cluster-server <URL>',
      'where pods there reach Atoll, https://HOST[:PORT]: they get a token of their own logical cluster (spec.inClusterConfig)',
    )
    .option(
      '--in-cluster-certificate-authority <FILE>',
      'who vouches for that server, PEM; its own authority by default',
    )
    .option('--adopt', 'take over what it still runs from when it was registered before')
    .option('--wait <SECONDS>', 'how long to wait until it is Ready', '60')
    .addHelpText(
      'after',
      '\nExamples:\n  atoll cluster add east --kubeconfig ~/.kube/east.yaml --label topology.kubernetes.io/region=eu\n  atoll cluster add west --kubeconfig ~/.kube/west.yaml --in-cluster-server https://atoll.example.com:6443',
    )
    .action(async (name: string, _local, command: Command) => {
      const options = command.optsWithGlobals<Global & AddFlags>();
      const waitSeconds = secondsOf('--wait', options.wait);
      if (!isLogicalClusterName(name) || name.includes(':'))
        throw new UsageError(`"${name}" is no name for a cluster: lower case letters, digits and dashes`);
      const wanted = {
        kubeconfig: options.kubeconfig,
        ...(options.context && { context: options.context }),
        ...(options.network !== undefined && { network: options.network }),
        ...(options.copier !== undefined && { copier: options.copier }),
        ...inClusterOf(options),
        ...(options.adopt && { adopt: true }),
        ...(options.label && { labels: parseLabels(options.label) }),
        waitSeconds,
        output: options.output,
      };
      const { addCluster } = await import('../cluster.ts');
      await addCluster(await connect(options.atollKubeconfig), name, wanted);
    });
}

interface RemoveFlags {
  forget?: boolean;
  force?: boolean;
  wait: string;
}

interface AddFlags {
  adopt?: boolean;
  kubeconfig: string;
  context?: string;
  label?: string[];
  network?: string;
  copier?: string;
  inClusterServer?: string;
  inClusterCertificateAuthority?: string;
  wait: string;
}

function inClusterOf(flags: AddFlags): { inCluster?: InClusterConfig } {
  const { inClusterServer: server, inClusterCertificateAuthority: file } = flags;
  if (server === undefined) {
    if (file !== undefined)
      throw new UsageError(
        '--in-cluster-certificate-authority is for --in-cluster-server, which is not given',
      );
    return {};
  }
  if (file === undefined) return { inCluster: { server } };
  const certificates = certificatesIn('--in-cluster-certificate-authority', file);
  return { inCluster: { server, certificateAuthorityData: certificates.toString('base64') } };
}

function parseLabels(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair) => {
    const at = pair.indexOf('=');
    if (at <= 0) throw new UsageError(`--label ${pair}: expected KEY=VALUE`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return Object.fromEntries(entries);
}
