import { randomUUID } from 'node:crypto';
import { keepsGiven, withUsersWord } from '../../cluster/given.ts';
import { serviceOfEndpoints } from '../../cluster/kinds.ts';
import { reportedAnnotation, volumesAnnotation } from '../../cluster/names.ts';
import { reportOf } from '../../cluster/peers.ts';
import { isOurs, reflectedAs, reflectedFrom } from '../../cluster/reflected.ts';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../kube/object.ts';
import { notFound } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { getOwn, isRecord } from '../../kube/untyped.ts';
import { readObject } from '../registry/rewrite.ts';
import { bounded, count } from './bounds.ts';
import type { Making } from './making.ts';
import { withOwnTemplate } from './own-template.ts';
import { addressIn } from './places.ts';
import { claimOwners } from './reflected-claim.ts';
import { endpointsFrom } from './reflected-endpoints.ts';
import { eventFrom } from './reflected-event.ts';
import { revisionFrom } from './reflected-revision.ts';
import { sourcesWith } from './sources.ts';
import { finalizersOf, withUsersOwners } from './users-own.ts';

/** Fields beside metadata that each kind has; what is not here is not taken over. */
const fields: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec', 'status'],
  PersistentVolumeClaim: ['spec', 'status'],
  ReplicaSet: ['spec', 'status'],
  Job: ['spec', 'status'],
  ControllerRevision: ['data', 'revision'],
  EndpointSlice: ['addressType', 'endpoints', 'ports'],
};

export async function makeReflection(making: Making): Promise<KubeObject> {
  const { kind, address, body, before } = making;
  const told = isRecord(body['metadata']) ? body['metadata'] : {};
  const created = time(told['creationTimestamp']) ?? timestamp();
  const deleted = time(told['deletionTimestamp']);
  const grace = told['deletionGracePeriodSeconds'];
  const references = await ownerReferences(making, told['ownerReferences']);
  const owners =
    kind.kind === 'PersistentVolumeClaim'
      ? await claimOwners(making, references)
      : withUsersOwners(references, before, notedOwners(making, told['ownerReferences']));
  const finalizers = finalizersOf(before);
  const generation = told['generation'];
  // Whose each of these is: whoever applies takes back what is theirs.
  const managedFields = keepsGiven(kind.kind) ? before?.metadata.managedFields : undefined;
  const uid = before?.metadata.uid ?? randomUUID();
  const job = kind.kind === 'Pod' ? (references[0] ?? formerJob(before)) : undefined;
  const said = { labels: ofJob(foreign(told['labels']), job), annotations: foreign(told['annotations']) };
  const { labels, annotations } = keepsGiven(kind.kind) ? withUsersWord(said, before, address.cluster) : said;
  const sources = kind.shared ? sourcesWith(before, address.cluster, body['sourceUid']) : {};
  const metadata: ObjectMeta = {
    name: address.name,
    ...(typeof told['generateName'] === 'string' && { generateName: told['generateName'] }),
    namespace: address.namespace,
    uid,
    ...(typeof generation === 'number' && generation > 0 && { generation: count(generation) }),
    creationTimestamp: before?.metadata.creationTimestamp ?? created,
    ...(deleted && { deletionTimestamp: deleted }),
    ...(deleted && { deletionGracePeriodSeconds: typeof grace === 'number' ? count(grace) : 0 }),
    labels,
    annotations: reflectedAs({ ...annotations, ...saidHere(before), ...sources }, uid, [address.cluster]),
    ...(owners.length > 0 && { ownerReferences: owners }),
    ...(finalizers.length > 0 && { finalizers }),
    ...(managedFields && { managedFields }),
  };
  const object: KubeObject = { kind: kind.kind, apiVersion: formatApiVersion(kind), metadata };
  if (kind.kind === 'Event') return await eventFrom(making, object);
  if (kind.kind === 'Endpoints') return endpointsFrom(making, object);
  for (const field of fields[kind.kind] ?? []) {
    const value = body[field];
    if (field === 'status') object.status = bounded(isRecord(value) ? value : {});
    else if (field === 'spec') object.spec = isRecord(value) ? value : {};
    else if (value !== undefined) object[field] = value;
  }
  if (kind.kind === 'Job') return ownSelector(object);
  if (kind.kind === 'EndpointSlice') {
    if (!isOfServiceHere(making, object)) throw notFound(kind, address.name);
    return reported(object);
  }
  return kind.shared ? await revisionFrom(making, await withOwnTemplate(making, object)) : object;
}

/** Who reads slices finds them by their Service's name: it is that of the Service, or Endpoints, that the cluster has. */
function isOfServiceHere({ owners }: Making, slice: KubeObject): boolean {
  const name = serviceOfEndpoints(slice);
  return (slice.metadata.ownerReferences ?? []).some(({ uid }) => {
    const owner = owners.get(uid);
    return owner?.group === '' && ['services', 'endpoints'].includes(owner.resource) && owner.name === name;
  });
}

/** So that what its cluster said is told from what somebody here makes of it. */
function reported(slice: KubeObject): KubeObject {
  const annotations = { ...slice.metadata.annotations, [reportedAnnotation]: reportOf(slice) };
  return { ...slice, metadata: { ...slice.metadata, annotations } };
}

const jobUidLabels = ['batch.kubernetes.io/controller-uid', 'controller-uid'] as const;

/** An orphaned pod still says which Job made it, as it is known here. */
function formerJob(before: KubeObject | undefined): { kind: string; uid: string } | undefined {
  const uid = before?.metadata.labels?.[jobUidLabels[0]];
  return uid === undefined ? undefined : { kind: 'Job', uid };
}

/** A Job finds its pods by its own uid, which is another one here. */
function ofJob(
  labels: Record<string, string>,
  job: { kind: string; uid: string } | undefined,
): Record<string, string> {
  if (job?.kind !== 'Job') return labels;
  return Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [
      key,
      jobUidLabels.some((label) => label === key) ? job.uid : value,
    ]),
  );
}

/** The same of a Job that a CronJob made there. */
function ownSelector(job: KubeObject): KubeObject {
  const spec = isRecord(job.spec) ? job.spec : {};
  const uid = job.metadata.uid ?? '';
  const relabel = (labels: unknown) => ofJob(texts(labels), { kind: 'Job', uid });
  const selector = isRecord(spec['selector']) ? spec['selector'] : {};
  const template = isRecord(spec['template']) ? spec['template'] : {};
  const metadata = isRecord(template['metadata']) ? template['metadata'] : {};
  return {
    ...job,
    metadata: { ...job.metadata, labels: relabel(job.metadata.labels) },
    spec: {
      ...spec,
      selector: { ...selector, matchLabels: relabel(selector['matchLabels']) },
      template: { ...template, metadata: { ...metadata, labels: relabel(metadata['labels']) } },
    },
  };
}

function texts(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([k, v]) => (typeof v === 'string' ? [[k, v]] : [])),
  );
}

/** Labels or annotations without those that mean something here: whatever stands there, it speaks of itself alone. */
function foreign(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(texts(value)).filter(([key]) => !isOurs(key)));
}

/** What becomes of its data, its user says here: no cluster says it, nor takes it back. */
function saidHere(before: KubeObject | undefined): Record<string, string> {
  const volumes = before && getOwn(before.metadata.annotations ?? {}, volumesAnnotation);
  return volumes === undefined ? {} : { [volumesAnnotation]: volumes };
}

/**
 * Only objects that the cluster really runs may own what it reflects, and reflections that these own. The latter
 * come without a uid and before the object that they stand under: ReplicaSet and Deployment of a pod.
 */
async function ownerReferences(making: Making, value: unknown): Promise<OwnerReference[]> {
  const references = referencesIn(value, ({ controller }) => controller !== false);
  const roots = references.filter(({ uid }) => making.owners.has(uid));
  const root = roots[0];
  const between = references.find(({ uid }) => uid === '');
  const uid = between && (await reflectedUid(making, between, root?.uid));
  const flags = { controller: true, blockOwnerDeletion: true };
  if (between && uid) return [{ ...between, uid, ...flags }];
  return roots.map((reference) => ({ ...reference, ...flags }));
}

/** Those that somebody gave it here, as they were noted on it there. */
function notedOwners({ owners }: Making, value: unknown): OwnerReference[] {
  const references = referencesIn(value, ({ controller }) => controller === false);
  return references.filter(({ uid }) => owners.has(uid));
}

function referencesIn(value: unknown, isIn: (told: Record<string, unknown>) => boolean): OwnerReference[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((told) => {
    const { apiVersion, kind, name, uid, blockOwnerDeletion } = told;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string') return [];
    const blocks = blockOwnerDeletion === true && { blockOwnerDeletion };
    return isIn(told) ? [{ apiVersion, kind, name, uid: typeof uid === 'string' ? uid : '', ...blocks }] : [];
  });
}

const resources: Readonly<Record<string, { group: string; resource: string }>> = {
  ReplicaSet: { group: 'apps', resource: 'replicasets' },
  Job: { group: 'batch', resource: 'jobs' },
};

/** Without a root: of what an orphaned one left, reflected from the same cluster. */
async function reflectedUid(
  { store, address, owners }: Making,
  { kind, name }: { kind: string; name: string },
  root: string | undefined,
): Promise<string | undefined> {
  const ref = Object.hasOwn(resources, kind) ? resources[kind] : undefined;
  const object =
    ref && !name.includes('/') ? await readObject(store, addressIn(address, { ...ref, name })) : undefined;
  const above = object?.metadata.ownerReferences ?? [];
  if (root !== undefined) return above.some(({ uid }) => uid === root) ? object?.metadata.uid : undefined;
  const from = object ? reflectedFrom(object) : [];
  return from.includes(address.cluster) && !above.some(({ uid }) => owners.has(uid))
    ? object?.metadata.uid
    : undefined;
}

function time(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? value : undefined;
}
