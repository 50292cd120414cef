import { locatorAnnotation, managedLabel, managedValue } from '../cluster/names.ts';
import type { Locator } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';

/**
 * Of a physical object, as its locator annotation proves it. ours: made for exactly this logical object. former:
 * made by this syncer at this place for an object that has another uid by now; it may be removed, not written.
 * foreign: everything else; it is never touched.
 */
export type Ownership = 'ours' | 'former' | 'foreign';

/** Undefined where the annotation is missing or is not exactly a locator. */
export function readLocator(object: KubeObject, annotation = locatorAnnotation): Locator | undefined {
  const text = object.metadata.annotations?.[annotation];
  if (text === undefined || text.length > 4096) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { syncer, cluster, namespace, resource, name, uid } = value as Record<string, unknown>;
  if (!isText(syncer) || !isText(cluster) || !isText(namespace) || typeof uid !== 'string') return undefined;
  if (resource === undefined && name === undefined) return { syncer, cluster, namespace, uid };
  if (!isText(resource) || !isText(name)) return undefined;
  return { syncer, cluster, namespace, resource, name, uid };
}

export function ownership(object: KubeObject, wanted: Locator): Ownership {
  const found = readLocator(object);
  if (!found || found.syncer !== wanted.syncer || found.cluster !== wanted.cluster) return 'foreign';
  const sameName = found.resource === wanted.resource && found.name === wanted.name;
  if (!sameName || found.namespace !== wanted.namespace) return 'foreign';
  return found.uid === wanted.uid ? 'ours' : 'former';
}

/** Namespaces come and go with what is in them: they are known by their place, not by a uid. */
export function namespaceLocator(of: Locator): Locator {
  return { syncer: of.syncer, cluster: of.cluster, namespace: of.namespace, uid: '' };
}

export function namespaceFor(name: string, of: Locator): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { [managedLabel]: managedValue },
      annotations: { [locatorAnnotation]: JSON.stringify(namespaceLocator(of)) },
    },
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
