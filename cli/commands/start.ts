import { Command } from 'commander';
import { jsonLogger } from '../../server/log.ts';
import type { RunningServer } from '../../server/run.ts';
import { resolveSettings, type Settings } from '../../server/settings.ts';
import { untilSignal } from '../../server/signals.ts';
import { FailedError } from '../errors.ts';
import { print } from '../output.ts';
import { addServerFlags, type ServerFlags } from './options.ts';

export function startCommand(): Command {
  return addServerFlags(new Command('start'))
    .description('run the server: API, controllers and syncers, on the embedded store or on etcd')
    .addHelpText(
      'after',
      '\nExamples:\n  atoll start\n  atoll start --data-dir ./data --listen 127.0.0.1:0 --log-level warn\n  atoll start --storage etcd://10.0.0.1,10.0.0.2,10.0.0.3?ca=etcd-ca.crt&cert=etcd.crt&key=etcd.key',
    )
    .action(async (flags: ServerFlags) => {
      const settings = resolveSettings(flags, flags.config, process.env);
      const running = await startOrExplain(settings);
      const signalled = untilSignal();
      print(`Atoll is ready at ${running.url} (KUBECONFIG=${running.kubeconfig})`);
      await signalled;
      await running.stop();
    });
}

/** The same for `demo`: what went wrong, in words that say what to do. */
export async function startOrExplain(settings: Settings): Promise<RunningServer> {
  const { runServer } = await import('../../server/run.ts');
  try {
    return await runServer(settings, jsonLogger(settings.logLevel));
  } catch (error) {
    const { host, port } = settings.listen;
    if ((error as { code?: string }).code === 'EADDRINUSE') {
      throw new FailedError(
        `${host}:${port} is taken: stop what listens there, or choose another with --listen HOST:PORT`,
      );
    }
    if ((error as { code?: string }).code === 'EACCES') {
      throw new FailedError(`${(error as Error).message}: choose another --data-dir or --listen`);
    }
    throw error;
  }
}
