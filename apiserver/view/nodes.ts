import { randomUUID } from 'node:crypto';
import { reflectedNodes, shownNode } from '../../cluster/nodes.ts';
import { isOurs, reflectedAs, reflectedFrom } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import { conflict, forbidden, notFound } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored } from '../registry/codec.ts';
import { parseKey } from '../registry/keys.ts';
import { listEntries, type ObjectAddress, rewriteObject } from '../registry/rewrite.ts';
import { boundedStatus } from './bounds.ts';
import type { Fed } from './index.ts';

const stored = { group: '', resource: 'nodes', namespaced: false };

interface NodeAddress {
  cluster: string;
  logical: string;
  name: string;
}

function addressOf({ logical, name }: NodeAddress): ObjectAddress {
  return { resource: stored, cluster: logical, namespace: '', name };
}

/** All that were reflected from this cluster, wherever they are shown. */
export async function listNodes(
  store: Store,
  cluster: string,
): Promise<{ revision: number; items: KubeObject[] }> {
  const { entries, revision } = await listEntries(store, { resource: stored, cluster: '*', namespace: '' });
  const items = entries.map((entry) => decodeStored(entry, parseKey(stored, entry.key).cluster));
  return { revision, items: items.filter((node) => reflectedFrom(node).includes(cluster)) };
}

/**
 * Shows a node in a logical cluster of which the physical one has something: 403 elsewhere. Of two clusters with nodes
 * of one name the first has it, and what a user made stays the user's: 409.
 */
export async function putNode(
  { store, index }: { store: Store; index: Fed },
  address: NodeAddress,
  body: Record<string, unknown>,
): Promise<KubeObject> {
  if (!index.isIn(address.cluster, address.logical))
    throw forbidden(stored, address.name, `cluster ${address.cluster} has no share in this logical cluster`);
  const written = await rewriteObject(store, addressOf(address), (before) => {
    const from = before ? reflectedFrom(before) : [];
    if (before && !from.includes(address.cluster)) {
      const whose =
        from.length > 0 ? `it is reflected from cluster ${from.join(', ')}` : 'it is not a reflection';
      throw conflict(stored, address.name, whose);
    }
    return nodeFrom(address, body, before);
  });
  return written as KubeObject;
}

export async function deleteNode(store: Store, address: NodeAddress, uid?: unknown): Promise<KubeObject> {
  const deleted = await rewriteObject(store, addressOf(address), (before) => {
    const isIts = before && reflectedFrom(before).includes(address.cluster);
    if (!isIts || (uid && before.metadata.uid !== uid)) throw notFound(stored, address.name);
    return undefined;
  });
  return deleted as KubeObject;
}

function nodeFrom(
  address: NodeAddress,
  body: Record<string, unknown>,
  before: KubeObject | undefined,
): KubeObject {
  const told = isRecord(body['metadata']) ? body['metadata'] : {};
  const { spec, status } = shownNode({ ...body, metadata: {} } as KubeObject);
  const uid = before?.metadata.uid ?? randomUUID();
  const created = before?.metadata.creationTimestamp ?? timeOf(told['creationTimestamp']);
  const node = {
    apiVersion: 'v1',
    kind: reflectedNodes.kind,
    metadata: {
      name: address.name,
      uid,
      creationTimestamp: created,
      labels: foreign(told['labels']),
      annotations: reflectedAs(foreign(told['annotations']), uid, [address.cluster]),
    },
  };
  return {
    ...node,
    spec: boundedStatus(spec as Record<string, unknown>),
    status: boundedStatus(status as Record<string, unknown>),
  };
}

function timeOf(value: unknown): string {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
  return isTime ? value : timestamp();
}

/** Those that are texts, and none that means something here. */
function foreign(value: unknown): Record<string, string> {
  const all = isRecord(value) ? Object.entries(value) : [];
  const told = all.filter((one): one is [string, string] => typeof one[1] === 'string' && !isOurs(one[0]));
  return Object.fromEntries(told);
}
