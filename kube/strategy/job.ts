import { at, child, record } from '../defaults/json.ts';
import type { JsonObject, KubeObject } from '../object.ts';

/**
 * Gives a Job that selects for itself its selector and its pods their labels; needs metadata.uid and metadata.name.
 * Labels that the user wrote stay: where they disagree, validation refuses.
 */
export function prepareJob(object: KubeObject): void {
  const spec = child(object as unknown as JsonObject, 'spec');
  if (spec['manualSelector'] === true) return;
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
