import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { Atoll } from './atoll.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

/** A watch that goes on at the next server, after the last revision it saw, whenever its own one is gone. */
export interface Followed {
  /** What was there when it began, and what it was told of since. */
  added: Set<string>;
  /** What a watch may never do: an event twice, or out of order, or a refusal to resume. */
  faults: string[];
  resumed: number;
  stop(): void;
}

/** One for each server, which each begins at. */
export function follow(servers: readonly Atoll[]): Followed[] {
  return servers.map((_server, first) => {
    const stop = new AbortController();
    const state: Followed = { added: new Set(), faults: [], resumed: 0, stop: () => stop.abort() };
    void run(servers, first, state, stop.signal);
    return state;
  });
}

async function run(
  servers: readonly Atoll[],
  first: number,
  state: Followed,
  signal: AbortSignal,
): Promise<void> {
  let last = 0;
  for (let at = first; !signal.aborted; at++) {
    const server = servers[at % servers.length];
    if (server === undefined) return;
    const transport = await transportFromKubeconfigFile(server.kubeconfig);
    const client = new Client(transport);
    try {
      if (last === 0) {
        const { metadata, items } = await client.list(configMaps, { namespace: 'default' });
        for (const item of items) state.added.add(item.metadata.name ?? '');
        last = Number(metadata.resourceVersion);
      } else {
        state.resumed++;
      }
      const options = { namespace: 'default', resourceVersion: String(last), signal };
      for await (const { type, object } of client.watch(configMaps, options)) {
        const revision = Number(object.metadata.resourceVersion);
        const name = object.metadata.name ?? '';
        if (revision <= last) state.faults.push(`${type} ${name} at ${revision} after ${last}`);
        if (type === 'ADDED' && state.added.has(name)) state.faults.push(`${name} was added twice`);
        if (type === 'ADDED') state.added.add(name);
        last = Math.max(last, revision);
      }
    } catch (error) {
      if ((error as { reason?: string }).reason === 'Expired') state.faults.push(String(error));
      await sleep(50);
    } finally {
      transport.close();
    }
  }
}
