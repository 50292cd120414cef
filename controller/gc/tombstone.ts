import type { Client } from '../../client/client.ts';
import { isMissing } from '../../client/errors.ts';
import { placedKind } from '../../cluster/kinds.ts';
import { placements } from '../../cluster/names.ts';
import { leftOnce } from '../../cluster/orphans.ts';
import { placementName } from '../../cluster/placement.ts';
import { reflectedKinds } from '../../cluster/reflected.ts';
import { silencesIn } from '../../cluster/silence.ts';
import type { Placement } from '../../cluster/types.ts';
import { isStatusError } from '../../kube/status.ts';
import { numberAt } from '../../kube/untyped.ts';
import { commit } from '../commit.ts';
import type { Node } from './graph.ts';

/** Reflections that a workload may own. */
const owned = reflectedKinds.filter(({ group }) => group === 'apps' || group === 'batch');
const shown = [...owned, ...reflectedKinds.filter(({ kind }) => kind === 'Pod')];

/**
 * Before a placed object that is orphaned goes: notes it in the Placement, so that what it made on physical clusters
 * stays; then frees what is shown of that, which the graph does not know. Nothing of it names the object again. Nothing
 * to do for what is not placed, or on a plain Kubernetes.
 */
export async function noteOrphaned(client: Client, node: Node, signal: AbortSignal): Promise<void> {
  const { cluster, namespace, name, uid, resource } = node;
  const kind = placedKind(resource);
  // A custom resource may be placed by a rule: then there is a Placement of it.
  if (cluster === undefined || (kind ? kind.role !== 'workload' : namespace === '')) return;
  const target = { cluster, namespace, name: placementName({ ...resource, name }) };
  try {
    const placement = await client.get<Placement>(placements, target, signal);
    if (placement.spec?.ref.uid !== uid) return;
    const silent = silencesIn(placement.status?.conditions ?? []);
    const total = kind?.spread === 'counts' ? await replicasOf(client, node, placement, signal) : undefined;
    const shares = leftOnce(placement.spec, { slices: placement.status?.clusters, silent, total });
    const spec = { ...placement.spec, orphaned: uid, shares };
    const wanted = { ...placement, spec };
    await commit(client, placements, placement, wanted, { cluster, signal });
  } catch (error) {
    if (!isMissing(error, target.name)) throw error;
    return;
  }
  for (const kind of shown) {
    const { items } = await client.list(kind, { cluster, namespace, signal });
    for (const object of items) {
      const owners = object.metadata.ownerReferences ?? [];
      const ownerReferences = owners.filter((owner) => owner.uid !== uid);
      if (ownerReferences.length === owners.length) continue;
      const free = { ...object, metadata: { ...object.metadata, ownerReferences } };
      await commit(client, kind, object, free, { cluster, signal }).catch((error: unknown) => {
        // What is refused holds up nothing: its syncer frees it too, a moment later.
        if (!isStatusError(error) || isStatusError(error, 'Conflict')) throw error;
      });
    }
  }
}

/** Undefined: it is not there any more. */
async function replicasOf(
  client: Client,
  { resource, cluster, namespace, name }: Node,
  { spec }: Placement,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (spec?.scale) return spec.scale.replicas;
  try {
    const object = await client.get(
      resource,
      { ...(cluster !== undefined && { cluster }), namespace, name },
      signal,
    );
    return numberAt(object, 'spec', 'replicas') ?? 1;
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    return undefined;
  }
}
