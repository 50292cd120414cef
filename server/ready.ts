import { setTimeout } from 'node:timers/promises';
import { nobody } from '../apiserver/authn/anonymous.ts';
import type { ApiServer } from '../apiserver/options.ts';
import type { Logger } from '../kube/log.ts';

const longestMs = 5_000;
const againMs = 100;

/** Asks as a probe does, so that /metrics/slis has it from the first. Later, what is not ready is for others to ask. */
export async function untilReady(server: ApiServer, logger: Logger): Promise<void> {
  const ask = server.transport(nobody);
  const until = Date.now() + longestMs;
  while (Date.now() < until) {
    const { status } = await ask({ method: 'GET', url: '/readyz', headers: {} });
    // Where probes may not ask, it is not known, and nobody is told otherwise.
    if (status < 500) return;
    await setTimeout(againMs);
  }
  logger.warn({}, 'the server serves, and is not ready: ask /readyz?verbose');
}
