import type { Client } from '../client/client.ts';
import { systemNamespace } from '../cluster/names.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { isStatusError } from '../kube/status.ts';
import { FailedError } from './errors.ts';
import { orKnown } from './known.ts';
import { print } from './output.ts';
import { credentialsOf, physicalClusters, placements, secrets } from './resources.ts';

export interface RemoveOptions {
  /** What cannot leave stays there, and no longer counts. */
  forget: boolean;
  waitSeconds: number;
}

/**
 * Removes an empty cluster; one that still holds something of ours is refused: drain it first, or forget it. What a
 * forgotten one runs is made elsewhere first while it answers. Returns when it is gone.
 */
export async function removeCluster(
  client: Client,
  name: string,
  { forget, waitSeconds }: RemoveOptions,
): Promise<void> {
  if (!forget) await requireEmpty(client, name);
  const unknown = orKnown(client, name);
  if (forget)
    await client.patch(physicalClusters, { name }, 'merge', { spec: { forget: true } }).catch(unknown);
  await client.delete(physicalClusters, { name }).catch(unknown);
  await untilGone(client, name, waitSeconds);
  await client
    .delete(secrets, { namespace: systemNamespace, name: credentialsOf(name) })
    .catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error;
    });
  print(`physicalcluster.atoll.dev/${name} removed`);
  if (forget)
    print(
      `what could not leave stays there; to take it over again: atoll cluster add ${name} --kubeconfig FILE --adopt`,
    );
}

async function requireEmpty(client: Client, name: string): Promise<void> {
  const held = await client.list<Placement>(placements, { cluster: '*' });
  const still = held.items.filter((placement) => placement.spec?.shares?.[name] !== undefined);
  if (still.length === 0) return;
  const cluster = await client.get<PhysicalCluster>(physicalClusters, { name }).catch(orKnown(client, name));
  throw new FailedError(heldWords(cluster, still.length));
}

/** What is to be done about what it still holds: of one that is emptied already nobody has to say so once more. */
export function heldWords({ metadata, spec }: PhysicalCluster, count: number): string {
  const { name = '', deletionTimestamp } = metadata;
  const holds = `${name} still holds ${count === 1 ? '1 object' : `${count} objects`}`;
  if (deletionTimestamp !== undefined)
    return `${holds}, and is being removed: it is gone when they have left; --forget gives them up`;
  if (spec?.drain === true)
    return `${holds}, and is being drained: atoll drain ${name} shows what it waits for, and ends when it is empty; --forget gives them up`;
  return `${holds}: run atoll drain ${name} first, or --forget to give them up`;
}

async function untilGone(client: Client, name: string, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  let told = '';
  for (;;) {
    let cluster: PhysicalCluster;
    try {
      cluster = await client.get<PhysicalCluster>(physicalClusters, { name });
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return;
      throw error;
    }
    const empty = cluster.status?.conditions?.find(({ type }) => type === 'Empty');
    if (empty?.status === 'False' && empty.message !== told) {
      told = empty.message;
      print(`${name} is not gone yet: ${told}`);
    }
    if (Date.now() > deadline) {
      const why = empty?.message ?? 'it has not said why';
      throw new FailedError(`${name} is being removed, but is not gone after ${seconds} s: ${why}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
