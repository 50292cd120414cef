import { tellersOf } from '../../cluster/share.ts';
import { silencesIn } from '../../cluster/silence.ts';
import type { PlacementSlice } from '../../cluster/slices.ts';
import type { Placement } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import { getOwn, textAt } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { readObject, rewriteObject } from '../registry/rewrite.ts';
import { addressIn, placementsStored } from './places.ts';
import { type SliceAddress, withAll } from './slices.ts';

/**
 * A placed Pod with the node that it is bound to, as is said by now: another cluster may have said more since `said` was read, and nobody
 * says it again.
 */
export async function bound(
  store: Store,
  address: SliceAddress,
  pod: KubeObject,
  said: Placement,
): Promise<KubeObject> {
  if (isBoundTo(pod, nodeOf(said))) return pod;
  const now = await placementNow(store, address);
  const node = now && nodeOf(now);
  return isBoundTo(pod, node) ? pod : { ...pod, spec: { ...(pod.spec as object), nodeName: node } };
}

/** A share has gone, with `dropped`: whoever is left is believed from then on, and may have nothing more to say. */
export async function noteLeft(
  store: Store,
  address: SliceAddress,
  dropped: PlacementSlice | undefined,
): Promise<void> {
  if (dropped?.status?.nodeName === undefined) return;
  const said = await placementNow(store, address);
  const { ref } = said?.spec ?? {};
  if (!said || ref?.kind !== 'Pod') return;
  await rewriteObject(store, addressIn(address, ref), (own) =>
    own?.metadata.uid === ref.uid ? bound(store, address, own, said) : own,
  );
}

async function placementNow(store: Store, address: SliceAddress): Promise<Placement | undefined> {
  const { group, resource } = placementsStored;
  const at = addressIn(address, { group, resource, name: address.name });
  const placement = await readObject<Placement>(store, at);
  return placement && (await withAll(store, address, placement));
}

function isBoundTo(pod: KubeObject, node: string | undefined): boolean {
  return node === undefined || textAt(pod, 'spec', 'nodeName') === node;
}

/** Of the cluster that is believed how a Pod is, which its status is of: see splitter/fold. Undefined: nobody says it. */
function nodeOf({ spec, status }: Placement): string | undefined {
  const { ref, shares = {} } = spec ?? {};
  if (ref?.kind !== 'Pod') return undefined;
  const silent = silencesIn(status?.conditions ?? []);
  const of = (cluster: string) => getOwn(status?.clusters ?? {}, cluster);
  const speaking = Object.entries(shares).filter(([cluster]) => {
    const slice = of(cluster);
    return slice?.present === true && Object.keys(slice.status ?? {}).length > 0;
  });
  const heard = speaking.filter(([cluster]) => !silent.has(cluster));
  const [first] = tellersOf(Object.fromEntries(heard.length > 0 ? heard : speaking));
  return first === undefined ? undefined : of(first)?.nodeName;
}
