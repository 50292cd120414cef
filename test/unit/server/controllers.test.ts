import { expect, test } from 'vitest';
import { silentLogger } from '../../../kube/log.ts';
import { type ControllersOptions, startControllers } from '../../../server/controllers.ts';

/** Which leases are asked for, and for how long, by a server that gets none. */
async function askedFor(options: Pick<ControllersOptions, 'controllers' | 'members'>) {
  const stop = new AbortController();
  const asked = new Map<string, number>();
  const acquire = async (name: string, ttlMs: number) => {
    asked.set(name, ttlMs);
    stop.abort();
    return undefined;
  };
  const fake = { ...options, store: { acquire }, signal: stop.signal, logger: silentLogger };
  await startControllers(fake as unknown as ControllersOptions);
  return Object.fromEntries(asked);
}

test('a lease that no other server asks for lasts long', async () => {
  expect(await askedFor({ controllers: 'all' })).toEqual({ controllers: 300_000 });
});

test("one of several servers that do only what is the API server's own is followed soon when it dies", async () => {
  expect(await askedFor({ controllers: 'api' })).toEqual({ 'api-controllers': 8_000 });
});
