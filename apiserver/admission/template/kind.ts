import { type PlacedKind, placedKind, ruledKind } from '../../../cluster/kinds.ts';
import { group as ownGroup, placements, rootCluster } from '../../../cluster/names.ts';
import { type PlacedResource, placedResources } from '../../../cluster/placed-resource.ts';
import { placementName } from '../../../cluster/placement.ts';
import type { Placement } from '../../../cluster/types.ts';
import { groupResource } from '../../../kube/gvk.ts';
import { andThen, type Later } from '../../../kube/later.ts';
import type { Core } from '../../core.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { decodeStored } from '../../registry/codec.ts';
import { collectionRange, objectKey } from '../../registry/keys.ts';
import { recentAt, recentList } from '../../registry/recent.ts';

/**
 * Of which kind it is, where that is placed; a custom resource's by the rule for it, else, as for all that becomes of it, by that
 * by which it was placed before.
 */
export function kindOf(core: Core, request: AdmissionRequest): Later<PlacedKind | undefined> {
  const { info, custom } = request.stored;
  const known = placedKind(info);
  // Of ours there is no rule, and each write of each Placement would ask for one.
  if (known || !custom || !info.namespaced || info.group === ownGroup) return known;
  const rules = collectionRange({ ...placedResources, namespaced: false }, rootCluster, '');
  return andThen(recentList(core.store, rules), (entries) => {
    const all = entries.map((entry) => decodeStored(entry) as PlacedResource);
    const rule = all.find(({ metadata }) => metadata.name === groupResource(info))?.spec;
    return rule ? ruledKind(info, rule) : placedBefore(core, request);
  });
}

function placedBefore(
  core: Core,
  { stored: { info }, cluster, namespace, old }: AdmissionRequest,
): Later<PlacedKind | undefined> {
  const { name, uid } = old?.metadata ?? {};
  if (name === undefined) return undefined;
  const record = objectKey(
    { ...placements, namespaced: true },
    cluster,
    namespace,
    placementName({ ...info, name }),
  );
  return andThen(recentAt(core.store, record), ([entry]) => {
    const ref = entry && (decodeStored(entry) as Placement).spec?.ref;
    return ref?.rule && ref.uid === uid ? ruledKind(info, ref.rule) : undefined;
  });
}
