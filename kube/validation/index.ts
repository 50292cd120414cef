import { rootType } from '../defaults/shape.ts';
import type { GroupVersion } from '../gvk.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import type { StatusCause } from '../status.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { record } from '../untyped.ts';
import { admissionChecks } from './admission/index.ts';
import { apiServiceChecks } from './api-service.ts';
import { autoscalingChecks } from './autoscaling.ts';
import { configChecks } from './config.ts';
import { definitionChecks } from './crd/definition.ts';
import { cronJobChecks } from './cronjob.ts';
import { csiChecks } from './csi.ts';
import { draChecks } from './dra/index.ts';
import { endpointSliceChecks } from './endpoint-slice.ts';
import { endpointChecks } from './endpoints.ts';
import { eventChecks } from './event.ts';
import { Field } from './field.ts';
import { flowChecks } from './flow.ts';
import { jobChecks } from './job.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { leaseChecks } from './lease.ts';
import { limitRangeChecks } from './limit-range.ts';
import { metadata, metadataUpdate } from './meta.ts';
import { networkingChecks } from './networking.ts';
import { nodeChecks } from './node.ts';
import { persistentVolumeChecks } from './persistent-volume.ts';
import { podChecks } from './pod/index.ts';
import { policyChecks } from './policy.ts';
import { priorityLevelChecks } from './priority-level.ts';
import { quotaChecks } from './quota.ts';
import { rbacChecks } from './rbac.ts';
import { runtimeClassChecks } from './runtime-class.ts';
import { serviceChecks } from './service.ts';
import { serviceRangeChecks } from './service-range.ts';
import { signingRequestChecks } from './signing-request.ts';
import { statefulSetChecks } from './statefulset.ts';
import { statusChecks } from './status/index.ts';
import { storageChecks } from './storage.ts';
import { storageClassChecks } from './storage-class.ts';
import { subresourceChecks } from './subresource.ts';
import { workloadChecks } from './workloads.ts';

const checks: ReadonlyMap<string, KindCheck> = new Map(
  Object.entries<KindCheck>({
    ...podChecks,
    ...workloadChecks,
    ...statefulSetChecks,
    ...jobChecks,
    ...cronJobChecks,
    ...configChecks,
    ...serviceChecks,
    ...endpointChecks,
    ...endpointSliceChecks,
    ...serviceRangeChecks,
    ...runtimeClassChecks,
    ...leaseChecks,
    ...draChecks,
    ...eventChecks,
    ...signingRequestChecks,
    ...rbacChecks,
    ...networkingChecks,
    ...storageChecks,
    ...persistentVolumeChecks,
    ...storageClassChecks,
    ...csiChecks,
    ...autoscalingChecks,
    ...policyChecks,
    ...quotaChecks,
    ...limitRangeChecks,
    ...nodeChecks,
    ...apiServiceChecks,
    ...definitionChecks,
    ...admissionChecks,
    ...flowChecks,
    ...priorityLevelChecks,
  } satisfies KindChecks),
);

function checkOf(info: KindInfo): KindCheck | undefined {
  let known = checksKnown.get(info);
  if (known === undefined) {
    const typed = rootType(info.group, info.version, info.kind) !== undefined;
    known = { check: typed ? checks.get(`${info.group}/${info.kind}`) : undefined };
    checksKnown.set(info, known);
  }
  return known.check;
}

/** By what is served, which lives long. */
const checksKnown = new WeakMap<KindInfo, { check: KindCheck | undefined }>();

/** Of events in the core group, kube-apiserver looks at the metadata last, and names may be any. */
function isOldEvent(info: KindInfo, asked: GroupVersion): boolean {
  return info.kind === 'Event' && info.group === '' && asked.group === '';
}

/**
 * The causes for which kube-apiserver would refuse to create a defaulted and prepared `object`, in its order; empty
 * when valid. Kinds without a check of their own have their metadata checked. `asked` is what the client speaks.
 */
export function validateCreate(
  object: KubeObject,
  info: KindInfo,
  asked: GroupVersion = info,
): StatusCause[] {
  const root = new Field([]);
  const oldEvent = isOldEvent(info, asked);
  const kind = { ...info, custom: isCustom(info) };
  if (!oldEvent) metadata(object, kind, root.child('metadata'));
  const body = object as unknown as JsonObject;
  checkOf(info)?.({ object: body, spec: record(body['spec']), asked }, root);
  if (oldEvent && root.causes.length === 0) metadata(object, kind, root.child('metadata'), true);
  return root.causes;
}

function isCustom({ group, version, kind }: KindInfo): boolean {
  return rootType(group, version, kind) === undefined;
}

/** As validateCreate, of what a user says through `/status`, beyond what validateUpdate looks at. */
export function validateStatus(object: KubeObject, old: KubeObject, info: KindInfo): StatusCause[] {
  const root = new Field([]);
  const key = `${info.group}/${info.kind}/status`;
  if (Object.hasOwn(statusChecks, key) && !isCustom(info)) statusChecks[key]?.(object, old, root);
  return root.causes;
}

/** As validateCreate, for replacing `old`; on `/status`, whose spec is the old one, metadata, and of few kinds more. */
export function validateUpdate(
  object: KubeObject,
  old: KubeObject,
  info: KindInfo,
  subresource?: string,
  asked: GroupVersion = info,
): StatusCause[] {
  const root = new Field([]);
  const how = { ...info, custom: isCustom(info), unchecked: isOldEvent(info, asked) };
  metadataUpdate(object, old, how, subresource ?? '', root.child('metadata'));
  if (subresource !== undefined && subresource !== '') {
    const key = `${info.group}/${info.kind}/${subresource}`;
    if (Object.hasOwn(subresourceChecks, key)) subresourceChecks[key]?.(object, old, root);
    return root.causes;
  }
  const body = object as unknown as JsonObject;
  const before = old as unknown as JsonObject;
  const subject = {
    object: body,
    spec: record(body['spec']),
    old: before,
    oldSpec: record(before['spec']),
    asked,
  };
  checkOf(info)?.(subject, root);
  return root.causes;
}
