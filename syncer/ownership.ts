import { locatorText } from '../cluster/locator.ts';
import { isPath } from '../cluster/logical.ts';
import {
  locatorAnnotation,
  logicalClusterLabel,
  logicalNamespaceLabel,
  managedLabel,
  managedValue,
  rootCluster,
} from '../cluster/names.ts';
import { labelsThere, markOf } from '../cluster/namespace-labels.ts';
import type { Locator, ShareViewSpec } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { firstLabels } from './namespace-labels.ts';

/** Of what is applied there. */
export const fieldManager = 'atoll-syncer';

/**
 * Of a physical object, as its locator annotation proves it. ours: made for exactly this logical object. former:
 * made by this syncer at this place for an object that has another uid by now; it may be removed, not written.
 * foreign: everything else; it is never touched.
 */
export type Ownership = 'ours' | 'former' | 'foreign';

/** The uids under which a cluster was registered before, and that it takes over. */
export type Former = ReadonlySet<string>;
const none: Former = new Set();

function isOwn({ syncer }: Locator, uid: string, former: Former): boolean {
  return syncer === uid || former.has(syncer);
}

/** It was made for this very object, or Namespace, by a cluster of another uid: a former registration of this one. */
export function isLeftBehind(object: KubeObject, wanted: Locator): boolean {
  const found = readLocator(object);
  return found?.uid === wanted.uid && found.uid !== '' && found.syncer !== wanted.syncer;
}

/** What to do about it, for whoever reads the refusal. */
export function leftBehind(name: string): string {
  return `was left there by a former registration of this cluster; to take it over: atoll cluster add ${name} --adopt`;
}

/** Undefined where the annotation is missing or is not exactly a locator. */
export function readLocator(object: KubeObject, annotation?: string): Locator | undefined {
  const text = annotation === undefined ? locatorText(object) : object.metadata.annotations?.[annotation];
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

export function ownership(object: KubeObject, wanted: Locator, former: Former = none): Ownership {
  const found = readLocator(object);
  if (!found || !isOwn(found, wanted.syncer, former) || found.namespace !== wanted.namespace)
    return 'foreign';
  if (found.resource !== wanted.resource || found.name !== wanted.name) return 'foreign';
  // No two objects have one uid, whatever their logical cluster was called when the locator was written.
  if (found.uid === wanted.uid) return 'ours';
  // A path is how locators named logical clusters, but for root, before they had ids.
  const mayBe = isPath(found.cluster) && wanted.cluster !== rootCluster;
  return found.cluster === wanted.cluster || mayBe ? 'former' : 'foreign';
}

/** Of the namespace that a share goes to. */
export function namespaceLocator({ locator, namespaceUid }: ShareViewSpec): Locator {
  const { syncer, cluster, namespace } = locator;
  return { syncer, cluster, namespace, uid: namespaceUid };
}

/**
 * Of a physical namespace: made for exactly this Namespace; by a locator from before Namespaces' uids counted, or from a
 * former registration, which is to be written anew; or not ours, since another Namespace's, of the same name maybe, is none of this one's business.
 */
export function namespaceOwnership(
  object: KubeObject,
  wanted: Locator,
  former: Former = none,
): 'ours' | 'unsigned' | 'foreign' {
  const found = readLocator(object);
  if (!found || found.name !== undefined) return 'foreign';
  if (!isOwn(found, wanted.syncer, former) || found.namespace !== wanted.namespace) return 'foreign';
  if (found.uid === wanted.uid || wanted.uid === '')
    return found.syncer === wanted.syncer ? 'ours' : 'unsigned';
  return found.uid === '' ? 'unsigned' : 'foreign';
}

/** What a namespace there is to bear of ours, beside the mark that finds it. `labels`: those of the logical one. */
export function borne(
  labels: Readonly<Record<string, string>>,
  locator: Locator,
  patterns: readonly string[] = [],
): Record<string, string> {
  const marks = { [logicalClusterLabel]: markOf(locator), [logicalNamespaceLabel]: locator.namespace };
  return { ...labelsThere(labels, patterns), ...marks };
}

/** `wanted`: what `borne` says. */
export function namespaceFor(
  name: string,
  locator: Locator,
  wanted: Readonly<Record<string, string>>,
): KubeObject {
  const { labels, annotations } = firstLabels(wanted);
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { ...labels, [managedLabel]: managedValue },
      annotations: { ...annotations, [locatorAnnotation]: JSON.stringify(locator) },
    },
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
