import { reflectedPartsAnnotation } from '../../cluster/names.ts';
import { reflectedAs, reflectedFrom } from '../../cluster/reflected.ts';
import { highest, inJson, revisionAfter, revisionAnnotation, revisionOf } from '../../cluster/revision.ts';
import type { KubeObject } from '../../kube/object.ts';
import { getOwn, isRecord, numberAt, setOwn, textAt } from '../../kube/untyped.ts';
import { count } from './bounds.ts';
import { controllerOf } from './controlled.ts';
import type { Making } from './making.ts';

const annotation = 'deployment.kubernetes.io/';
const counts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'terminatingReplicas',
] as const;

/** What one cluster says of its ReplicaSet or ControllerRevision of this name. */
interface Part {
  /** As it is numbered there. */
  revision: number;
  /** Of a ReplicaSet: what is wanted there, and spread over all of the Deployment's ReplicaSets. */
  replicas?: number;
  desired?: number;
  max?: number;
  status?: Record<string, number>;
}

/**
 * The ReplicaSets of one name on several clusters have one template, so they are shown as one: with the sum of
 * their replicas. ControllerRevisions likewise. Their revision is counted here, since each cluster counts from
 * when the workload came to it: what becomes the newest anywhere gets the next number.
 */
export async function revisionFrom(making: Making, object: KubeObject): Promise<KubeObject> {
  const { address, before } = making;
  const parts = partsOf(before);
  const part = partFrom(object);
  const revision =
    revisionOf(before) && getOwn(parts, address.cluster)?.revision === part.revision
      ? revisionOf(before)
      : numbered(address.cluster, part.revision, revisionOf(before), await siblings(making, object));
  setOwn(parts, address.cluster, part);
  // One cluster lets it go: here it is there as long as others have it.
  const shown = Object.keys(parts).length > 1 ? withoutEnd(object) : object;
  return combined(shown, parts, revision);
}

/** What is left when a cluster has it no more; undefined: nothing. */
export function withoutPart(before: KubeObject, cluster: string): KubeObject | undefined {
  const parts = Object.fromEntries(Object.entries(partsOf(before)).filter(([name]) => name !== cluster));
  return Object.keys(parts).length > 0 ? combined(withoutEnd(before), parts, revisionOf(before)) : undefined;
}

/** As it is where nobody has deleted it. */
export function withoutEnd(object: KubeObject): KubeObject {
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * `known`: the number that it has here already, else 0. A late word of something older changes no number; one that
 * is the newest on its cluster is the newest here, unless it is already.
 */
function numbered(cluster: string, there: number, known: bigint, others: readonly KubeObject[]): bigint {
  const newer = others.some((other) => (getOwn(partsOf(other), cluster)?.revision ?? 0) > there);
  if (newer) return known || BigInt(there);
  const next = revisionAfter(others);
  return known >= next ? known : highest([BigInt(there), next]);
}

/** Others of the same workload. */
export async function siblings(
  { controlled, kind, address }: Making,
  object: KubeObject,
): Promise<KubeObject[]> {
  const owner = controllerOf(object);
  if (owner === undefined) return [];
  const beside = await controlled.of(kind, address, owner);
  return beside.filter((other) => other.metadata.name !== address.name);
}

/** A cluster that says more leaves room to count on from there. */
const mostRevision = 1e9;

function partFrom(object: KubeObject): Part {
  const revision = Math.min(Number(revisionOf(object)), mostRevision);
  if (object.kind !== 'ReplicaSet') return { revision };
  const told = (name: string) => count(Number(object.metadata.annotations?.[`${annotation}${name}`] ?? 0));
  const status = counts.map((name) => [name, count(numberAt(object, 'status', name) ?? 0)]);
  const [desired, max] = [told('desired-replicas'), told('max-replicas')];
  const replicas = count(numberAt(object, 'spec', 'replicas') ?? 0);
  return { revision, replicas, desired, max, status: Object.fromEntries(status) };
}

function combined(object: KubeObject, parts: Record<string, Part>, revision: bigint): KubeObject {
  const all = Object.values(parts);
  const sum = (of: (part: Part) => number | undefined) => all.reduce((n, part) => n + (of(part) ?? 0), 0);
  const annotations: Record<string, string> = {
    ...reflectedAs(object.metadata.annotations, object.metadata.uid ?? '', Object.keys(parts)),
    [reflectedPartsAnnotation]: JSON.stringify(parts),
  };
  if (object.kind !== 'ReplicaSet') {
    return { ...object, metadata: { ...object.metadata, annotations }, revision: inJson(revision) };
  }
  annotations[revisionAnnotation] = String(revision);
  for (const [name, of] of [
    ['desired-replicas', sum(({ desired }) => desired)],
    ['max-replicas', sum(({ max }) => max)],
  ] as const) {
    if (Object.hasOwn(annotations, `${annotation}${name}`)) annotations[`${annotation}${name}`] = String(of);
  }
  const told = isRecord(object.status) ? object.status : {};
  const sums = counts.map((name) => [name, sum(({ status }) => status?.[name])] as const);
  // As its controller writes it: replicas always, the others when there are any.
  const status = { ...told, ...Object.fromEntries(sums.filter(([name, n]) => n > 0 || name === 'replicas')) };
  for (const [name, n] of sums)
    if (n === 0 && name !== 'replicas' && name !== 'terminatingReplicas') delete status[name];
  const spec = isRecord(object.spec) ? object.spec : {};
  return {
    ...object,
    metadata: { ...object.metadata, annotations },
    spec: { ...spec, replicas: sum(({ replicas }) => replicas) },
    status,
  };
}

/** What each cluster said last. */
function partsOf(object: KubeObject | undefined): Record<string, Part> {
  const from = object ? reflectedFrom(object) : [];
  const text = object && textAt(object.metadata, 'annotations', reflectedPartsAnnotation);
  if (!text) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return {};
    const known = Object.entries(value).filter(([name, part]) => from.includes(name) && isRecord(part));
    return Object.fromEntries(known) as unknown as Record<string, Part>;
  } catch {
    return {};
  }
}
