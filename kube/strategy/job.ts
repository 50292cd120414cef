import { child, fill } from '../defaults/fill.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { at, isRecord, record } from '../untyped.ts';

/**
 * Gives a Job that selects for itself its selector and its pods their labels; needs metadata.uid and metadata.name.
 * Labels that the user wrote stay: where they disagree, validation refuses.
 */
export function prepareJob(object: KubeObject): void {
  const spec = child(object as unknown as JsonObject, 'spec');
  if (spec['manualSelector'] !== true) generateSelector(object, spec);
  // With a name that no label can hold, it never gets as far as wearing it.
  if (labelValue.test(object.metadata.name ?? '')) labelLikeItsPods(object);
}

const labelValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** A Job without labels of its own wears those of its pods. */
export function labelLikeItsPods(object: KubeObject): void {
  const labels = at(object, 'spec', 'template', 'metadata', 'labels');
  if (isRecord(labels)) fill(object.metadata as JsonObject, 'labels', { ...labels });
}

function generateSelector(object: KubeObject, spec: JsonObject): void {
  const { name = '', uid = '' } = object.metadata;
  const metadata = child(child(spec, 'template'), 'metadata');
  metadata['labels'] = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
    ...record(metadata['labels']),
  };
  const selector = child(spec, 'selector');
  selector['matchLabels'] = {
    'batch.kubernetes.io/controller-uid': uid,
    ...record(at(selector, 'matchLabels')),
  };
}
