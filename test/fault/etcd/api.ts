import { setTimeout as sleep } from 'node:timers/promises';
import { createApiServer } from '../../../apiserver/server.ts';
import { Client } from '../../../client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Store } from '../../../storage/store.ts';
import type { Input, Operation, Output } from '../history.ts';
import { Random } from '../random.ts';

const WRITERS = 4;
const KEYS = 5;
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const admin = { name: 'admin', groups: ['system:masters'] };

type ConfigMap = KubeObject & { data?: { value?: string } };

/** Clients of one API server over each store, all on the same few ConfigMaps, until the signal aborts. */
export function apiClients(
  stores: readonly Store[],
  seed: number,
  signal: AbortSignal,
): { operations: Operation[]; done: Promise<void> } {
  const operations: Operation[] = [];
  let time = 0;
  const record = (operation: Operation) => void operations.push(operation);
  const servers = stores.map((store) => createApiServer({ store, logicalClusters: true, authenticate: [] }));
  const work = servers.flatMap((server, s) => {
    const client = new Client(server.transport(admin));
    return Array.from({ length: WRITERS }, async (_, w) => {
      const random = new Random(seed, s * WRITERS + w);
      const known = new Map<string, string>();
      for (let n = 0; !signal.aborted; n++) {
        const name = `k${random.below(KEYS)}`;
        const input = choose(random, known.get(name), `${s}.${w}.${n}`);
        const called = time++;
        const output = await ask(client, name, input);
        const unanswered = output === undefined;
        const returned = unanswered ? Number.POSITIVE_INFINITY : time++;
        if (!unanswered || input.op !== 'get') record({ key: name, input, called, returned, output });
        if (output !== undefined && 'revision' in output) known.set(name, String(output.revision));
        if (output?.result === 'ok' && input.op === 'delete') known.delete(name);
        else if (unanswered || !('revision' in output)) known.delete(name);
        await sleep(5);
      }
    });
  });
  const done = Promise.all(work).then(async () => {
    await Promise.all(servers.map((server) => server.close()));
  });
  return { operations, done };
}

function choose(random: Random, known: string | undefined, value: string): Input {
  if (random.chance(0.4)) return { op: 'get' };
  if (known === undefined) return { op: 'create', value };
  const expected = Number(known);
  return random.chance(0.15) ? { op: 'delete', expected } : { op: 'update', value, expected };
}

/** Undefined: whether it happened is not known, or what stood in its way is not told. */
async function ask(client: Client, name: string, input: Input): Promise<Output | undefined> {
  const at = { namespace: 'default', name };
  const object = (value: string, resourceVersion?: number): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...at, ...(resourceVersion !== undefined && { resourceVersion: String(resourceVersion) }) },
    data: { value },
  });
  const revision = ({ metadata }: KubeObject) => Number(metadata.resourceVersion);
  try {
    switch (input.op) {
      case 'get': {
        const found = await client.get<ConfigMap>(configMaps, at);
        return { result: 'found', revision: revision(found), value: found.data?.value ?? '' };
      }
      case 'create':
        return { result: 'ok', revision: revision(await client.create(configMaps, object(input.value))) };
      case 'update': {
        const written = await client.update(configMaps, object(input.value, input.expected));
        return { result: 'ok', revision: revision(written) };
      }
      case 'delete':
        await client.delete(configMaps, at, { preconditions: { resourceVersion: String(input.expected) } });
        return undefined;
    }
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) return undefined;
    return { result: input.op === 'get' ? 'absent' : 'missing' };
  }
}
