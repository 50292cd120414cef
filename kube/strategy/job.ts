import { child, fill } from '../defaults/fill.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { at, isRecord, record } from '../untyped.ts';

/**
 * Gives a Job that selects for itself its selector and its pods their labels; needs metadata.uid and metadata.name.
 * Labels that the user wrote stay: where they disagree, validation refuses. A Job without labels of its own wears those
 * of its pods: by its defaults, which gave it the same map, or where they had none before, too.
 */
export function prepareJob(object: KubeObject): void {
  const spec = child(object as unknown as JsonObject, 'spec');
  const before = at(spec, 'template', 'metadata', 'labels');
  const shared = isRecord(before) && object.metadata.labels === before;
  if (spec['manualSelector'] !== true) generateSelector(object, spec);
  const labels = at(spec, 'template', 'metadata', 'labels');
  if (!isRecord(labels)) return;
  if (shared) object.metadata.labels = { ...labels } as Record<string, string>;
  // With a name that no label can hold, it never gets as far as wearing it.
  else if (labelValue.test(object.metadata.name ?? ''))
    fill(object.metadata as JsonObject, 'labels', { ...labels });
}

const labelValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

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
