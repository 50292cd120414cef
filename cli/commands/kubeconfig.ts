import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { isLogicalClusterName, rootCluster } from '../../cluster/names.ts';
import { connect, ownKubeconfig, placeOf } from '../connection.ts';
import { UsageError } from '../errors.ts';
import { refuseFolder } from '../files.ts';
import { print } from '../output.ts';
import type { Global } from './options.ts';

interface Flags {
  logicalCluster?: string;
  outFile?: string;
  user?: string;
  group?: string[];
  expires?: string;
  admin?: boolean;
  everywhere?: boolean;
}

export function kubeconfigCommand(): Command {
  return new Command('kubeconfig')
    .description('print a kubeconfig for a logical cluster: yours, or one for somebody else')
    .argument('[LOGICAL_CLUSTER]', 'such as root:team-a; default that of your own kubeconfig')
    .option('--logical-cluster <PATH>', 'the same')
    .option('--user <NAME>', 'with a certificate of their own; what they may do, roles there say')
    .option('--group <NAMES>', 'of theirs; may be given again', groupsOf)
    .option('--expires <DURATION>', 'how long their certificate lasts, such as 90m, 720h or 30d; default 8h')
    .option('--everywhere', 'they are the same user in every logical cluster')
    .option('--admin', 'they may do everything, everywhere')
    .option(
      '-o, --out-file <FILE>',
      'write it there, where nobody else may read it; what was there is replaced',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  atoll kubeconfig -o ~/.kube/atoll\n  atoll kubeconfig root:team-a -o team-a.yaml\n  atoll kubeconfig root:team-a --user ann --group developers,testers --expires 8h -o ann.yaml\n  atoll kubeconfig root:team-a --user ann --expires 720h > ann.yaml',
    )
    .action(async (argument: string | undefined, flags: Flags, command: Command) => {
      const named = argument ?? flags.logicalCluster;
      if (named !== undefined && !isLogicalClusterName(named))
        throw new UsageError(`"${named}" is not a logical cluster's name, such as root:team-a`);
      if (argument !== undefined && flags.logicalCluster !== undefined && argument !== flags.logicalCluster)
        throw new UsageError(`two logical clusters: ${argument} and ${flags.logicalCluster}`);
      const file = flags.outFile === '-' ? undefined : flags.outFile;
      if (file !== undefined) refuseFolder(file);
      const { atollKubeconfig } = command.optsWithGlobals<Global>();
      const own = ownKubeconfig(atollKubeconfig);
      const ofOwn = placeOf(own).cluster;
      const cluster = named ?? ofOwn;
      const asked = await askedFor(flags, cluster);
      // The root is always there, and one's own is known: these can be had without a server.
      if (cluster !== rootCluster && cluster !== ofOwn) {
        const { insist } = await import('../logical-clusters.ts');
        await insist(await connect(atollKubeconfig), cluster);
      }
      const { forLogicalCluster } = await import('../../server/kubeconfig.ts');
      const other = asked && (await (await import('../certificate.ts')).certifiedUser(own, asked));
      const text = `${other ? `# ${other.about}\n` : ''}${forLogicalCluster(own.text, cluster, other)}`;
      if (file === undefined) return print(text.trimEnd());
      const { writePrivate } = await import('../../server/private-file.ts');
      const replaced = existsSync(file) ? '; what was there is replaced' : '';
      await writePrivate(file, text);
      const mine = `${cluster}, with your own credentials: somebody else gets a key of their own by --user`;
      print(`${file}: ${other?.about ?? mine}${replaced}`);
    });
}

function groupsOf(names: string, before: string[] = []): string[] {
  return [...before, ...names.split(',')];
}

/** Undefined: it is one's own. Throws UsageError. */
async function askedFor(flags: Flags, cluster: string) {
  const { user, group = [], expires, admin = false, everywhere = false } = flags;
  if (user === undefined) {
    if (group.length > 0 || expires !== undefined || admin || everywhere)
      throw new UsageError('--group, --expires, --everywhere and --admin go with --user NAME');
    return undefined;
  }
  const [{ parseDuration }, { problemOf }] = await Promise.all([
    import('../../kube/duration.ts'),
    import('../../server/certificate-view.ts'),
  ]);
  let expirationSeconds: number;
  try {
    expirationSeconds = Math.floor(parseDuration(expires ?? '8h', { d: 86_400_000 }) / 1000);
  } catch {
    throw new UsageError(`--expires ${expires}: expected a duration, such as 90m, 8h or 30d`);
  }
  const scoped = !admin && !everywhere && { cluster };
  const asked = { user, groups: group, expirationSeconds, admin, ...scoped };
  const problem = problemOf(asked);
  if (problem !== undefined) throw new UsageError(problem);
  return asked;
}
