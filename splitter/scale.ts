import type { Client } from '../client/client.ts';
import type { ObjectRef, Scale } from '../cluster/types.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { numberAt } from '../kube/untyped.ts';
import { replicasOf } from './follow.ts';

interface Writer {
  client: Client;
  signal: AbortSignal;
  logger: Logger;
}

/** Whose the root's replicas are in its managedFields, as kube-controller-manager's are on one cluster. */
const fieldManager = 'atoll-splitter';

/**
 * Tells the root's spec.replicas how many there are, as an autoscaler does: through its scale subresource, and only
 * the root that was looked at, so that nobody's wish of a moment ago is lost. `conflict`: look again. A refusal (by
 * an admission webhook, say) keeps nothing else from going on. Done before the Placement says so: a crash between
 * the two leaves a wish for what is there.
 */
export async function writeScale(
  cluster: string,
  ref: ObjectRef,
  root: KubeObject,
  scale: Omit<Scale, 'generation'>,
  { client, signal, logger }: Writer,
): Promise<Scale | 'conflict'> {
  const { generation = 0, namespace, name, uid, resourceVersion } = root.metadata;
  const { replicas } = scale;
  if (replicasOf(root) === replicas) return { ...scale, generation };
  const metadata = { name, namespace, uid, resourceVersion } as KubeObject['metadata'];
  const body = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas } };
  try {
    const options = { cluster, subresource: 'scale', fieldManager, signal };
    const written = await client.update(ref, body, options);
    const changed = (numberAt(written, 'spec', 'replicas') ?? 0) !== replicasOf(root);
    return { ...scale, generation: changed ? generation + 1 : generation };
  } catch (err) {
    if (isStatusError(err, 'Conflict')) return 'conflict';
    if (!(err instanceof StatusError) || err.code >= 500) throw err;
    if (err.code !== 404) logger.warn({ err, cluster, ref }, 'replicas of the root cannot be written');
    return { ...scale, generation };
  }
}
