import { sleep } from '../../../kube/clock.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { ResourceExchange } from '../../core.ts';
import { decodeStored } from '../../registry/codec.ts';

const shownMs = 2_000;
const againMs = 10;

/**
 * Resolves once these pods, which their clusters have agreed to stop, are shown as going, or gone: on Kubernetes whoever is
 * answered reads that from then on, and by it chooses what to stop next. A syncer that is late is not waited for. As they are shown
 * then; without those that are gone.
 */
export async function untilShown(
  exchange: ResourceExchange,
  pods: readonly KubeObject[],
): Promise<KubeObject[]> {
  const { core, request } = exchange;
  const signal = request.signal ?? core.closing;
  const end = performance.now() + shownMs;
  const shown: KubeObject[] = [];
  for (const pod of pods) {
    let found = await stillThere(exchange, pod);
    while (
      found &&
      found.metadata.deletionTimestamp === undefined &&
      !signal.aborted &&
      performance.now() < end
    ) {
      await sleep(againMs, signal);
      found = await stillThere(exchange, pod);
    }
    if (found) shown.push(found);
  }
  return shown;
}

async function stillThere(
  { core, info: { cluster }, stored }: ResourceExchange,
  { metadata: { namespace = '', name = '', uid } }: KubeObject,
): Promise<KubeObject | undefined> {
  try {
    const found = decodeStored(await core.registry.read(stored, { cluster, namespace, name }));
    return found.metadata.uid === uid ? found : undefined;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}
