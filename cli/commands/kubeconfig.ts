import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { isLogicalClusterName, rootCluster } from '../../cluster/names.ts';
import { connect, findKubeconfig } from '../connection.ts';
import { UsageError } from '../errors.ts';
import { print } from '../output.ts';
import type { Global } from './options.ts';

interface Flags {
  logicalCluster?: string;
  user?: string;
  group: string[];
  expires: string;
  admin: boolean;
  everywhere: boolean;
}

export function kubeconfigCommand(): Command {
  return new Command('kubeconfig')
    .description('print a kubeconfig for a logical cluster: yours, or one for somebody else')
    .argument('[LOGICAL_CLUSTER]', 'such as root:team-a; default root')
    .option('--logical-cluster <PATH>', 'the same')
    .option('--user <NAME>', 'with a certificate of their own; what they may do, roles there say')
    .option('--group <NAME>', 'of theirs; may be given again', (one, all: string[]) => [...all, one], [])
    .option('--expires <DURATION>', 'how long their certificate lasts, such as 90m, 720h or 30d', '8h')
    .option('--everywhere', 'they are the same user in every logical cluster', false)
    .option('--admin', 'they may do everything, everywhere', false)
    .addHelpText(
      'after',
      '\nExamples:\n  atoll kubeconfig > ~/.kube/atoll\n  atoll kubeconfig root:team-a > team-a.yaml\n  atoll kubeconfig root:team-a --user ann --group developers --expires 8h > ann.yaml\n  atoll kubeconfig root:team-a --user ann --expires 720h > ann.yaml',
    )
    .action(async (argument: string | undefined, flags: Flags, command: Command) => {
      const cluster = argument ?? flags.logicalCluster ?? rootCluster;
      if (!isLogicalClusterName(cluster))
        throw new UsageError(`"${cluster}" is not a logical cluster's name, such as root:team-a`);
      if (argument !== undefined && flags.logicalCluster !== undefined && argument !== flags.logicalCluster)
        throw new UsageError(`two logical clusters: ${argument} and ${flags.logicalCluster}`);
      const asked = await askedFor(flags, cluster);
      const { atollKubeconfig } = command.optsWithGlobals<Global>();
      const file = findKubeconfig(atollKubeconfig);
      // The root is always there: its kubeconfig can be had without a server.
      if (cluster !== rootCluster) {
        const { insist } = await import('../logical-clusters.ts');
        await insist(await connect(atollKubeconfig), cluster);
      }
      const { forLogicalCluster } = await import('../../server/kubeconfig.ts');
      const other = asked && (await (await import('../certificate.ts')).certifiedUser(file, asked));
      if (other) print(`# ${other.about}`);
      print(forLogicalCluster(readFileSync(file, 'utf8'), cluster, other).trimEnd());
    });
}

/** Undefined: it is one's own. Throws UsageError. */
async function askedFor({ user, group, expires, admin, everywhere }: Flags, cluster: string) {
  if (user === undefined) {
    if (group.length > 0 || admin || everywhere)
      throw new UsageError('--group, --everywhere and --admin go with --user NAME');
    return undefined;
  }
  const [{ parseDuration }, { problemOf }] = await Promise.all([
    import('../../kube/duration.ts'),
    import('../../server/certificate-view.ts'),
  ]);
  let expirationSeconds: number;
  try {
    expirationSeconds = Math.floor(parseDuration(expires, { d: 86_400_000 }) / 1000);
  } catch {
    throw new UsageError(`--expires ${expires}: expected a duration, such as 90m, 8h or 30d`);
  }
  const scoped = !admin && !everywhere && { cluster };
  const asked = { user, groups: group, expirationSeconds, admin, ...scoped };
  const problem = problemOf(asked);
  if (problem !== undefined) throw new UsageError(problem);
  return asked;
}
