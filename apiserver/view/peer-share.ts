import {
  apiVersion,
  locatorAnnotation,
  logicalClusterAnnotation,
  managedLabel,
  managedValue,
} from '../../cluster/names.ts';
import { physicalNamespace, placementName } from '../../cluster/placement.ts';
import type { Locator, Placement, ShareView } from '../../cluster/types.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { parseKey } from '../registry/keys.ts';
import type { Viewer } from './join.ts';
import { placementsStored, slicesStored } from './places.ts';

interface PeerSlice {
  /** The Service's Placement, and its key. */
  key: string;
  placement: Placement;
  slice: KubeObject;
  revision: number;
}

/**
 * One item of the shares list that no Placement stands for. It is applied and removed as what is placed; its locator says that
 * it is that very Service's.
 */
export function peerShare(viewer: Viewer, { key, placement, slice, revision }: PeerSlice): ShareView {
  const { cluster: logical, namespace } = parseKey(placementsStored, key);
  const { ref: service, namespaceUid = '', namespaceLabels, physicalNamespace: home } = placement.spec ?? {};
  const { name = '', labels } = slice.metadata;
  const uid = service?.uid ?? '';
  const target = home ?? physicalNamespace(logical, namespace);
  const { group, resource } = slicesStored;
  const ref = { group, version: 'v1', resource, kind: 'EndpointSlice', name, uid };
  const locator: Locator = {
    syncer: viewer.uid,
    cluster: logical,
    namespace,
    resource: groupResource(ref),
    name,
    uid,
  };
  const metadata = {
    name,
    namespace: target,
    labels: { ...labels, [managedLabel]: managedValue },
    annotations: { [locatorAnnotation]: JSON.stringify(locator) },
  };
  return {
    kind: 'Share',
    apiVersion,
    metadata: {
      name: placementName(ref),
      namespace,
      uid,
      resourceVersion: String(revision),
      annotations: { [logicalClusterAnnotation]: logical },
    },
    spec: {
      ref,
      phase: 'Active',
      share: { phase: 'Active' },
      generation: 0,
      requires: [],
      isBeside: true,
      manifest: { ...slice, metadata },
      physicalNamespace: target,
      namespaceUid,
      ...(namespaceLabels && { namespaceLabels }),
      locator,
    },
  };
}
