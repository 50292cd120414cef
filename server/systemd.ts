import { execFile } from 'node:child_process';
import type { Logger } from '../kube/log.ts';

/**
 * Tells systemd how the service is, where it asked to be told, by its own program `systemd-notify`: Node has no sockets of
 * that kind. Nobody waits for it, and a failure stops nothing.
 */
export function tellSystemd(state: 'READY=1' | 'STOPPING=1', logger: Logger): void {
  if (!process.env['NOTIFY_SOCKET']) return;
  execFile('systemd-notify', [state], { timeout: 10_000 }, (err) => {
    if (err) logger.warn({ err, state }, 'systemd could not be told');
  });
}
