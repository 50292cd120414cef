import { Command } from 'commander';
import { ownKubeconfig } from '../connection.ts';
import { addOutput, type Global } from './options.ts';

/** atoll backup FILE: of a server that runs and goes on. */
export function backupCommand(): Command {
  return addOutput(new Command('backup'))
    .description("write all that a running server's store holds to FILE, as of one moment; clients go on")
    .argument('<FILE>', 'which must not exist; all secrets are in it')
    .addHelpText(
      'after',
      '\nExamples:\n  atoll backup monday.backup\n  atoll --atoll-kubeconfig prod.yaml backup prod.backup\nTo put it back: atoll restore monday.backup --data-dir ./new',
    )
    .action(async (file: string, _local, command: Command) => {
      const { atollKubeconfig, output } = command.optsWithGlobals<Global>();
      const { backupServer } = await import('../backup.ts');
      await backupServer(ownKubeconfig(atollKubeconfig), file, output);
    });
}
