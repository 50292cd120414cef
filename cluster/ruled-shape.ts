import { deepCopy } from '../kube/deep.ts';
import { formatApiVersion } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { at } from '../kube/untyped.ts';
import type { ShapeTarget } from './neighbours.ts';
import { stepsOf } from './placed-resource.ts';
import { admittedAt } from './pod-admission.ts';
import { setAt } from './ruled.ts';
import { metadataFor, templateThere } from './shape.ts';
import type { ObjectRef, Share } from './types.ts';

/**
 * As shapeFor, of a kind that a rule is about: the object as its user wrote it, with this cluster's replicas where the rule
 * says that they are. In the version of the rule, in which the cluster serves it; it may be stored in another.
 */
export function shapeRuled(root: KubeObject, ref: ObjectRef, share: Share, target: ShapeTarget): KubeObject {
  const { specReplicasPath, templatePath = '.spec.template' } = ref.rule ?? {};
  const path = stepsOf(templatePath);
  const { metadata: _metadata, status: _status, ...rest } = admittedAt(root, path);
  const metadata = metadataFor({ ...root, kind: ref.resource }, share, target);
  let shaped: Record<string, unknown> = deepCopy(rest) as Record<string, unknown>;
  const template = at(shaped, ...path);
  if (template !== undefined) shaped = setAt(shaped, path, templateThere(template, target));
  if (specReplicasPath !== undefined && share.replicas !== undefined)
    shaped = setAt(shaped, stepsOf(specReplicasPath), share.replicas);
  return { ...shaped, kind: ref.kind, apiVersion: formatApiVersion(ref), metadata };
}
