import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { listAt } from '../kube/untyped.ts';

/**
 * The manifest with the owners that the templates of the claims of `object` name: of a StatefulSet they are never changed, and earlier releases
 * wrote them. Undefined: it is the same.
 */
export function withOwnersThere(manifest: KubeObject, object: KubeObject): KubeObject | undefined {
  const templates = listAt(manifest, 'spec', 'volumeClaimTemplates') as KubeObject[];
  const there = listAt(object, 'spec', 'volumeClaimTemplates') as KubeObject[];
  const volumeClaimTemplates = templates.map((template, i) => {
    const { ownerReferences } = there[i]?.metadata ?? {};
    return ownerReferences ? { ...template, metadata: { ...template.metadata, ownerReferences } } : template;
  });
  if (deepEqual(volumeClaimTemplates, templates)) return undefined;
  return { ...manifest, spec: { ...(manifest.spec as object), volumeClaimTemplates } };
}
