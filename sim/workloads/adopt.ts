import type { Client } from '../../client/client.ts';
import type { ResourceRef } from '../../client/url.ts';
import type { KubeObject } from '../../kube/object.ts';
import { labelSelectorFromObject, labelSelectorFromSet } from '../../kube/selector.ts';
import type { Workload } from '../types.ts';
import { controllerRef } from './children.ts';

/**
 * What nobody controls and the selector fits becomes the workload's own, as every controller of Kubernetes does.
 * Answers the children as they are then. https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/
 */
export async function adopt(
  client: Client,
  resource: ResourceRef,
  workload: Workload,
  children: readonly KubeObject[],
): Promise<KubeObject[]> {
  const fits = selectorOf(workload);
  return await Promise.all(
    children.map(async (child) => {
      const {
        namespace,
        name = '',
        uid,
        labels = {},
        ownerReferences = [],
        deletionTimestamp,
      } = child.metadata;
      const free = deletionTimestamp === undefined && !ownerReferences.some(({ controller }) => controller);
      if (!free || workload.metadata.deletionTimestamp !== undefined || !fits(labels)) return child;
      const metadata = {
        ...(uid && { uid }),
        ownerReferences: [...ownerReferences, controllerRef(workload)],
      };
      return await client.patch(resource, { namespace, name }, 'merge', { metadata });
    }),
  );
}

/** Whether labels are those of what it adopts. A ReplicationController's selector is a plain set of labels; an empty one fits nothing. */
export function selectorOf({ kind, spec }: Workload): (labels: Record<string, string>) => boolean {
  const selector = spec?.selector ?? {};
  if (Object.keys(selector).length === 0) return () => false;
  const parsed =
    kind === 'ReplicationController'
      ? labelSelectorFromSet(selector as Record<string, string>)
      : labelSelectorFromObject(selector);
  return (labels) => parsed.matches(labels);
}
