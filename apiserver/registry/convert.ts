import { formatApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ServedResource } from '../served.ts';
import { eventFromCore, eventToCore } from './kinds/convert-events.ts';
import { hpaFromV1, hpaFromV2, hpaToV1 } from './kinds/convert-hpa.ts';

/**
 * True when a request's version of a kind is the stored one, byte for byte. Of what a webhook converts, handlers read and write what
 * their store makes of it (conversion/store.ts), which is in their version; and who is not to ask it, what is stored.
 */
export function isStored(served: ServedResource): boolean {
  const { group, version, storageVersion } = served.info;
  if (served.conversion !== undefined) return true;
  return version === storageVersion && group !== 'events.k8s.io' && !served.manyVersions;
}

/** From the version that a request speaks to the stored one. May share parts with its argument. */
export function toStored(object: KubeObject, served: ServedResource): KubeObject {
  const { group, version, storageVersion, kind } = served.info;
  if (isStored(served))
    return group === 'autoscaling' && kind === 'HorizontalPodAutoscaler' ? hpaFromV2(object) : object;
  if (group === 'events.k8s.io') return eventToCore(object);
  if (group === 'autoscaling' && version === 'v1') return hpaFromV1(object);
  return { ...object, apiVersion: formatApiVersion({ group, version: storageVersion }) };
}

export function fromStored(object: KubeObject, served: ServedResource): KubeObject {
  const { group, version } = served.info;
  if (isStored(served)) return object;
  if (group === 'events.k8s.io') return eventFromCore(object);
  if (group === 'autoscaling' && version === 'v1') return hpaToV1(object);
  return { ...object, apiVersion: formatApiVersion({ group, version }) };
}
