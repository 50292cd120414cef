import type { Connection } from './connection.ts';
import type { EtcdOptions } from './options.ts';
import { pause } from './pause.ts';

const EVERY_MS = 10_000;

/**
 * Whoever replaces the files of the URL need not restart the server: connections and logins that are made from then on go by what they say.
 * What is no pair, cannot be read, or is not what etcd takes, is not taken: another file, or etcd's own, may be about to be
 * replaced. Ends with the connection.
 */
export async function followSecrets(
  connection: Pick<Connection, 'renew' | 'signal'>,
  { reread, secretsMs = EVERY_MS, tls, password, logger }: EtcdOptions,
): Promise<void> {
  if (reread === undefined) return;
  let last = JSON.stringify({ tls, password });
  let refused = '';
  for (;;) {
    await pause(secretsMs, connection.signal);
    if (connection.signal.aborted) return;
    try {
      const secrets = await reread();
      const now = JSON.stringify({ tls: secrets.tls, password: secrets.password });
      if (now !== last) {
        await connection.renew(secrets);
        logger?.info({}, 'the files of the etcd URL were read anew');
      }
      last = now;
      refused = '';
    } catch (err) {
      const why = (err as Error).message;
      if (why !== refused) logger?.warn({ err }, 'the former certificates and password for etcd are kept');
      refused = why;
    }
  }
}
