import { deepCopy } from '../kube/deep.ts';
import type { KubeObject, ObjectMeta } from '../kube/object.ts';
import { at, isRecord } from '../kube/untyped.ts';
import { claimsGo } from './claims.ts';
import { withoutDuplicates } from './duplicates.ts';
import { locatorKey } from './locator.ts';
import { isSystemMark, withoutMarks } from './marks.ts';
import {
  claimsAnnotation,
  clustersAnnotation,
  drainAnnotation,
  managedLabel,
  managedValue,
  overflowAnnotation,
  pausedAnnotation,
  scaledAnnotation,
  spreadAnnotation,
  volumesAnnotation,
  waitAnnotation,
} from './names.ts';
import { amongNeighbours, nearNeighbours, type ShapeTarget } from './neighbours.ts';
import { withPortsThere } from './node-ports.ts';
import { withAccess } from './pod-access.ts';
import { admittedAt } from './pod-admission.ts';
import { templatePath } from './pod-spec.ts';
import { labelsThere, specFor, without } from './shape-spec.ts';
import type { Share } from './types.ts';

type Spec = Record<string, unknown>;

/** Annotations that say something about the logical object, or about who wrote it, not about what runs. */
const ownAnnotations = new Set([
  clustersAnnotation,
  drainAnnotation,
  pausedAnnotation,
  waitAnnotation,
  spreadAnnotation,
  overflowAnnotation,
  volumesAnnotation,
  scaledAnnotation,
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
]);
const bindingAnnotations =
  /^(pv\.kubernetes\.io\/|volume\.kubernetes\.io\/(selected-node|storage-provisioner)$|volume\.beta\.kubernetes\.io\/storage-provisioner$)/;

/**
 * The manifest for one physical cluster: the root object with this cluster's share of it, in the physical
 * namespace, bearing the locator. Nothing that the physical API server or its controllers own is in it.
 */
export function shapeFor(root: KubeObject, share: Share, target: ShapeTarget): KubeObject {
  const { metadata: _metadata, status: _status, ...rest } = admittedAt(root, templatePath(root));
  const copy = deepCopy(rest) as Record<string, unknown>;
  const shaped = { ...copy, metadata: metadataFor(root, share, target) } as KubeObject;
  if (isRecord(shaped.spec)) shaped.spec = withTemplates(specFor(root, shaped.spec, share), target);
  if (root.kind === 'Pod' && isRecord(shaped.spec)) shaped.spec = podThere(shaped.spec, target);
  if (root.kind === 'Service' && isRecord(shaped.spec))
    shaped.spec = withPortsThere(shaped.spec, root.metadata);
  if (root.kind === 'NetworkPolicy' && isRecord(shaped.spec))
    shaped.spec = amongNeighbours(shaped.spec, target.locator);
  if (root.kind === 'ServiceAccount') delete shaped['secrets'];
  return shaped;
}

export function metadataFor(root: KubeObject, share: Share, target: ShapeTarget): ObjectMeta {
  const { physicalNamespace, locator } = target;
  const { name, annotations } = root.metadata;
  const drop = (key: string) =>
    ownAnnotations.has(key) ||
    isSystemMark(key) ||
    (root.kind === 'PersistentVolumeClaim' && bindingAnnotations.test(key));
  return {
    ...(name !== undefined && { name }),
    namespace: physicalNamespace,
    labels: { ...labelsThere(root), [managedLabel]: managedValue },
    annotations: {
      ...Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !drop(key))),
      [locatorKey(root.kind)]: JSON.stringify(locator),
      ...(share.scaled !== undefined && { [scaledAnnotation]: String(share.scaled) }),
      ...(claimsGo(root) && { [claimsAnnotation]: 'Delete' }),
    },
  };
}

/**
 * A pod, or a claim, that bore our marks by its template would be taken for what it is not. Nor is a pod of it kept near
 * to, or away from, those of others; and it reaches its own logical cluster.
 */
function withTemplates(spec: Spec, target: ShapeTarget): Spec {
  const job = at(spec, 'jobTemplate');
  if (isRecord(job) && isRecord(job['spec']))
    return { ...spec, jobTemplate: { ...withoutOurs(job), spec: withTemplates(job['spec'], target) } };
  const template = at(spec, 'template');
  const claims = at(spec, 'volumeClaimTemplates');
  return {
    ...spec,
    ...(isRecord(template) && { template: ofTarget(withoutOurs(template), target) }),
    ...(Array.isArray(claims) && {
      volumeClaimTemplates: claims.map((claim) =>
        isRecord(claim) ? withoutOwners(withoutOurs(claim)) : claim,
      ),
    }),
  };
}

/** As a pod of this logical cluster has it there. */
export function templateThere(template: unknown, target: ShapeTarget): unknown {
  return isRecord(template) ? ofTarget(withoutOurs(template), target) : template;
}

function ofTarget(template: Spec, target: ShapeTarget): Spec {
  const spec = at(template, 'spec');
  return isRecord(spec) ? { ...template, spec: podThere(spec, target) } : template;
}

function podThere(spec: Spec, target: ShapeTarget): Spec {
  const near = nearNeighbours(withoutDuplicates(spec), target);
  return target.access ? withAccess(near, target.access) : near;
}

function withoutOurs(template: Spec): Spec {
  const metadata = at(template, 'metadata');
  const marked = at(metadata, 'annotations');
  if (!isRecord(metadata) || !isRecord(marked)) return template;
  const annotations = withoutMarks(marked as Record<string, string>);
  return annotations === marked ? template : { ...template, metadata: { ...metadata, annotations } };
}

/** Who owns its claims is an object of its logical cluster: there a garbage collector would look for it, and delete them. */
function withoutOwners(template: Spec): Spec {
  const metadata = at(template, 'metadata');
  return isRecord(metadata) ? { ...template, metadata: without(metadata, ['ownerReferences']) } : template;
}
