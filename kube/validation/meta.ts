import { sameJson } from '../deep.ts';
import { validateGenerateName, validateQualifiedName } from '../names.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../object.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { record, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { labels } from './labels.ts';
import { looksOf } from './meta-updates.ts';
import { checksGenerateName, nameRule } from './names.ts';
import { immutable, qualifiedName } from './rules.ts';

const annotationBytes = 256 * 1024;

/**
 * metadata of a new object; `anyNamed` when its kind has no rule for names.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
 */
export function metadata(
  object: KubeObject,
  info: KindInfo & { custom?: boolean },
  field: Field,
  anyNamed = false,
): void {
  accessor(object, info, anyNamed ? anyName : nameRule(info, object), field);
  if (!anyNamed && !info.custom && !plainGroups.includes(info.group))
    standardFinalizers(object.metadata.finalizers ?? [], field.child('finalizers'));
}

type NameRule = (name: string) => string[];

function accessor({ metadata: meta }: KubeObject, info: KindInfo, rule: NameRule, field: Field): void {
  if (meta.generateName && checksGenerateName(info)) {
    field.child('generateName').invalidAll(meta.generateName, validateGenerateName(meta.generateName, rule));
  }
  if (!meta.name) field.child('name').required('name or generateName is required');
  else field.child('name').invalidAll(meta.name, rule(meta.name));
  if (info.namespaced) {
    if (!meta.namespace) field.child('namespace').required();
  } else if (meta.namespace) field.child('namespace').forbidden('not allowed on this type');
  if ((meta.generation ?? 0) < 0)
    field.child('generation').invalid(meta.generation, 'must be greater than or equal to 0');
  labels(meta.labels, field.child('labels'));
  annotations(meta.annotations, field.child('annotations'));
  ownerReferences(meta.ownerReferences ?? [], field.child('ownerReferences'));
  finalizers(meta.finalizers ?? [], field.child('finalizers'));
}

function anyName(name: string): string[] {
  return ['/', '%'].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
}

/** metadata of an object that replaces `old`, through `subresource` when that is not empty. */
export function metadataUpdate(
  object: KubeObject,
  old: KubeObject,
  info: KindInfo & { custom?: boolean; unchecked?: boolean },
  subresource: string,
  field: Field,
): void {
  accessor(object, info, anyName, field);
  metadataChanges(object, old, field);
  if (subresource !== '' || info.unchecked) return;
  const { changes, whole, plain } = looksOf(info);
  const list = object.metadata.finalizers ?? [];
  for (let i = 0; i < changes; i++) {
    metadataChanges(object, old, field);
    if (!plain) standardFinalizers(list, field.child('finalizers'));
  }
  for (let i = 0; i < whole; i++) {
    accessor(object, info, nameRule(info, object), field);
    if (!plain) standardFinalizers(list, field.child('finalizers'));
  }
}

export function annotations(value: unknown, field: Field): void {
  let bytes = 0;
  const entries = Object.entries((value ?? {}) as Record<string, unknown>);
  for (const [key, annotation] of entries) {
    field.invalidAll(key, validateQualifiedName(key.toLowerCase()));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(text(annotation));
  }
  if (bytes > annotationBytes) field.tooLong(annotationBytes);
}

function ownerReferences(references: OwnerReference[], field: Field): void {
  let controller = '';
  for (const reference of references) {
    const [first = '', second, third] = text(reference.apiVersion).split('/');
    if ((second ?? first) === '' || third !== undefined)
      field.child('apiVersion').invalid(text(reference.apiVersion), 'version must not be empty');
    for (const key of ['kind', 'name', 'uid'] as const) {
      if (!reference[key]) field.child(key).invalid(text(reference[key]), 'must not be empty');
    }
    if (reference.apiVersion === 'v1' && reference.kind === 'Event') {
      field.invalid(reference, '/v1, Kind=Event is disallowed from being an owner');
    }
    if (!reference.controller) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === '') controller = name;
    else {
      const rule = 'Only one reference can have Controller set to true.';
      field.invalid(references, `${rule} Found "true" in references for ${controller} and ${name}`);
    }
  }
}

function finalizers(list: string[], field: Field): void {
  for (const finalizer of list) qualifiedName(finalizer, field);
  if (list.includes('orphan') && list.includes('foregroundDeletion')) {
    field.invalid(list, 'finalizer orphan and foregroundDeletion cannot be both set');
  }
}

/** Where finalizers need not be qualified. */
const plainGroups = [
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'policy',
];

/** Without a domain only Kubernetes' own; custom resources may have others. */
export function standardFinalizers(list: string[], field: Field): void {
  for (const [index, finalizer] of list.entries()) {
    if (finalizer.includes('/') || ['kubernetes', 'orphan', 'foregroundDeletion'].includes(finalizer))
      continue;
    field
      .index(index)
      .invalid(finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
  }
}

const keptFields: readonly (keyof ObjectMeta)[] = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

function metadataChanges(object: KubeObject, old: KubeObject, field: Field): void {
  const meta = object.metadata;
  const before = old.metadata;
  if (before.deletionTimestamp) {
    const added = (meta.finalizers ?? []).filter((name) => !(before.finalizers ?? []).includes(name)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      const rule = 'no new finalizers can be added if the object is being deleted';
      field.child('finalizers').forbidden(`${rule}, found new finalizers ${list}`);
    }
  }
  if ((meta.generation ?? 0) < (before.generation ?? 0)) {
    field.child('generation').invalid(meta.generation ?? 0, 'must not be decremented');
  }
  for (const key of keptFields) {
    if (!sameJson(meta[key], before[key])) field.child(key).invalid(meta[key] ?? null, immutable);
  }
  labels(meta.labels, field.child('labels'));
  annotations(meta.annotations, field.child('annotations'));
  ownerReferences(meta.ownerReferences ?? [], field.child('ownerReferences'));
}

/** In the order of their Go struct, in which messages tell of them. */
export const metadataFields = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

/** Of the metadata of a template, only labels and annotations count. */
export function templateMetadata(value: unknown, field: Field): void {
  const meta = record(value);
  annotations(meta['annotations'], field.child('annotations'));
  labels(meta['labels'], field.child('labels'));
  for (const name of metadataFields) {
    if (name === 'labels' || name === 'annotations' || meta[name] === undefined || meta[name] === null)
      continue;
    // kube-apiserver's own spelling, here.
    field.child(name === 'uid' ? 'uID' : name).forbidden('cannot be set');
  }
}
