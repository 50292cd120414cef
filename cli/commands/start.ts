import { Command } from 'commander';
import type { Logger } from '../../kube/log.ts';
import { jsonLogger, logProcess, logWarnings } from '../../server/log.ts';
import type { RunningServer } from '../../server/run.ts';
import { resolveSettings, type Settings } from '../../server/settings.ts';
import { untilSignal } from '../../server/signals.ts';
import { tellSystemd } from '../../server/systemd.ts';
import { StoreError } from '../../storage/store.ts';
import { explained, FailedError, ToldError } from '../errors.ts';
import { print } from '../output.ts';
import { addServerFlags, type ServerFlags } from './options.ts';

export function startCommand(): Command {
  return addServerFlags(new Command('start'))
    .description('run the server: API, controllers and syncers, on the embedded store or on etcd')
    .addHelpText(
      'after',
      '\nExamples:\n  atoll start\n  atoll start --data-dir ./data --listen 127.0.0.1:0 --log-level warn\n  atoll start --storage "etcd://10.0.0.1,10.0.0.2,10.0.0.3?ca=etcd-ca.crt&cert=etcd.crt&key=etcd.key"',
    )
    .action(async (flags: ServerFlags) => {
      const settings = resolveSettings(flags, flags.config, process.env);
      const logger = jsonLogger(settings.logLevel);
      await inTheLog(logger, async () => {
        const running = await startOrExplain(settings, logger);
        const signalled = untilSignal();
        print(`Atoll is ready at ${running.url} (KUBECONFIG=${running.kubeconfig})`);
        tellSystemd('READY=1', logger);
        await signalled;
        tellSystemd('STOPPING=1', logger);
        await running.stop();
      });
    });
}

/** A server says why it fails in its log, which is all that is on stderr, and on stdout to whoever reads that. */
export async function inTheLog(logger: Logger, serve: () => Promise<void>): Promise<void> {
  try {
    await serve();
  } catch (error) {
    const said = explained(error);
    if (said) logger.error({ error: said.message }, 'the server failed');
    else
      logger.error(
        { err: error, stack: (error as Error)?.stack },
        'the server failed, which nobody expected',
      );
    print(`error: ${said?.message ?? String(error)}`);
    throw new ToldError(said?.exitCode ?? 1, error);
  }
}

/** The same for `demo`: what went wrong, in words that say what to do. */
export async function startOrExplain(settings: Settings, logger: Logger): Promise<RunningServer> {
  const { runServer } = await import('../../server/run.ts');
  logWarnings(logger);
  try {
    const running = await runServer(settings, logger);
    logProcess(logger);
    return running;
  } catch (error) {
    const { code, message, syscall } = error as { code?: string; message: string; syscall?: string };
    const { host, port } = settings.listen;
    if (code === 'EADDRINUSE') {
      throw new FailedError(
        `${host}:${port} is taken: stop what listens there, or choose another with --listen HOST:PORT`,
      );
    }
    // Node says ENOENT where a folder cannot be made on a file system for reading only.
    if (syscall === 'mkdir') throw new FailedError(`${message}: choose another --data-dir`);
    if (code === 'EACCES') throw new FailedError(`${message}: choose another --data-dir or --listen`);
    if (code === 'EROFS')
      throw new FailedError(
        `${settings.dataDir} is on a file system for reading only: choose another --data-dir`,
      );
    if (error instanceof StoreError && error.code === 'full') throw new FailedError(roomWords(error));
    throw error;
  }
}

/** The reserve refuses a new store before anything fails; one that is there takes some room to be opened. */
export function roomWords({ message, cause }: Pick<StoreError, 'message' | 'cause'>): string {
  return cause === undefined
    ? `${message}: a new store needs more, or a smaller --disk-reserve`
    : `${message}: make room there, without some a store cannot be opened`;
}
