import type { KubeObject } from '../../kube/object.ts';
import { invalid } from '../../kube/status.ts';
import { strategyFor } from '../../kube/strategy/index.ts';
import type { ServedResource } from '../served.ts';

/** Of kinds whose updates must name the revision that they were made of. Throws StatusError 422. */
export function requireVersion(object: KubeObject, served: ServedResource): void {
  if (object.metadata.resourceVersion || strategyFor(served.info).allowUnconditionalUpdate) return;
  const { group, resource } = served.info;
  // kube-apiserver names the resource here, not the kind.
  throw invalid(group, resource, object.metadata.name ?? '', [
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: must be specified for an update',
      field: 'metadata.resourceVersion',
    },
  ]);
}
