import { withoutAccess } from '../../cluster/pod-access.ts';
import { admittedAt, podRefusal } from '../../cluster/pod-admission.ts';
import { deepCopy } from '../../kube/deep.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { canonicalQuantity } from '../../kube/quantity.ts';
import { sortedKeys } from '../../kube/sorted.ts';
import { getOwn, isRecord, at as valueAt } from '../../kube/untyped.ts';
import { keyOf, readObject } from '../registry/rewrite.ts';
import { controllerOf } from './controlled.ts';
import type { Making } from './making.ts';
import { addressIn } from './places.ts';
import { siblings } from './reflected-revision.ts';

type Json = Record<string, unknown>;

const inSpec = ['spec', 'template'];
const hashLabel = 'pod-template-hash';

/**
 * A ReplicaSet or ControllerRevision with a pod template that the logical object itself has or had: the one of these
 * that the cluster's agrees with once its pods are admitted, as it was written here. `kubectl rollout undo` makes it the Deployment's, on every
 * cluster, so what a cluster says is only ever compared. What was found once stays; unknown: no template.
 */
export async function withOwnTemplate(making: Making, object: KubeObject): Promise<KubeObject> {
  const told = comparable(templateOf(object));
  const own = await ownTemplate(making, object, told);
  if (object.kind === 'ControllerRevision') {
    const { data: _, ...rest } = object;
    // Clients compare its bytes with what they make of the object.
    const template = own && sortedKeys({ ...own, $patch: 'replace' } as JsonObject);
    return template ? { ...rest, data: { spec: { template } } } : rest;
  }
  const { template: _, ...spec } = isRecord(object.spec) ? object.spec : ({} as Json);
  return { ...object, spec: own ? { ...spec, template: hashed(own, object) } : spec };
}

async function ownTemplate(
  making: Making,
  object: KubeObject,
  told: Json | undefined,
): Promise<Json | undefined> {
  const { store, address, before, owners, formers } = making;
  const owner = controllerOf(object);
  const kept = before && controllerOf(before) === owner ? templateOf(before) : undefined;
  if (kept || !told) return kept;
  const ref = owners.get(owner ?? '');
  const isIt = (one: KubeObject) => {
    const template = templateOf(admittedAt(one, inSpec));
    return template !== undefined && agrees(told, comparable(template));
  };
  const found = (objects: readonly KubeObject[]) => templateOf(objects.find(isIt));
  const at = ref && addressIn(address, ref);
  const root = at && (await readObject(store, at));
  if (!root || root.metadata.uid !== owner) return found(await siblings(making, object));
  // One that is refused is none of which anything was made.
  const isRefused = podRefusal(root) !== undefined;
  const now = isRefused ? undefined : found([root]);
  if (now) return now;
  const all = await formers.of(keyOf(at), Number(root.metadata.resourceVersion));
  const former = found(all.filter(({ metadata }) => metadata.uid === owner));
  const known = former ?? found(await siblings(making, object));
  return known ?? (isRefused && isIt(root) ? templateOf(admittedAt(root, inSpec)) : undefined);
}

function comparable<T extends Json | undefined>(template: T): T | Json {
  return template && withoutAccess(template);
}

/** Without what the Deployment's controller or kubectl's patch added. */
export function templateOf(object: KubeObject | undefined): Json | undefined {
  const holder: unknown = object?.kind === 'ControllerRevision' ? object['data'] : object;
  const template = valueAt(holder, 'spec', 'template');
  if (!isRecord(template)) return undefined;
  const own: Json = deepCopy(template);
  delete own['$patch'];
  const labels = valueAt(own, 'metadata', 'labels');
  if (object?.kind === 'ReplicaSet' && isRecord(labels)) delete labels[hashLabel];
  return own;
}

function hashed(template: Json, set: KubeObject): Json {
  const hash = set.metadata.labels?.[hashLabel];
  if (hash === undefined) return template;
  const metadata = isRecord(template['metadata']) ? template['metadata'] : {};
  const labels = isRecord(metadata['labels']) ? metadata['labels'] : {};
  return { ...template, metadata: { ...metadata, labels: { ...labels, [hashLabel]: hash } } };
}

/**
 * Whether two say the same of all that both speak of: another version of Kubernetes has other fields and defaults.
 * That may take one template for another that is like it, but never makes one that was not there.
 */
function agrees(told: unknown, own: unknown): boolean {
  if (Array.isArray(told) && Array.isArray(own))
    return told.length === own.length && told.every((item, i) => agrees(item, own[i]));
  if (isRecord(told) && isRecord(own))
    return Object.keys(told).every((key) => !Object.hasOwn(own, key) || agrees(told[key], getOwn(own, key)));
  if (told === own || told === null || own === null) return true;
  return isScalar(told) && isScalar(own) && quantity(told) === quantity(own);
}

const isScalar = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

/** `1000m` is written `1` by those who know that it is a quantity. */
function quantity(value: string | number): string {
  try {
    return canonicalQuantity(value);
  } catch {
    return String(value);
  }
}
