import { record } from '../defaults/json.ts';
import { rootType } from '../defaults/shape.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import type { StatusCause } from '../status.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { admissionChecks } from './admission.ts';
import { autoscalingChecks } from './autoscaling.ts';
import { configChecks } from './config.ts';
import { definitionChecks } from './definition.ts';
import { endpointChecks } from './endpoints.ts';
import { extensionChecks } from './extension.ts';
import { Field } from './field.ts';
import { flowChecks } from './flow.ts';
import { jobChecks } from './job.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { metadata, metadataUpdate } from './meta.ts';
import { networkingChecks } from './networking.ts';
import { podChecks } from './pod/index.ts';
import { policyChecks } from './policy.ts';
import { rbacChecks } from './rbac.ts';
import { serviceChecks } from './service.ts';
import { statefulSetChecks } from './statefulset.ts';
import { storageChecks } from './storage.ts';
import { subresourceChecks } from './subresource.ts';
import { workloadChecks } from './workloads.ts';

const checks: ReadonlyMap<string, KindCheck> = new Map(
  Object.entries<KindCheck>({
    ...podChecks,
    ...workloadChecks,
    ...statefulSetChecks,
    ...jobChecks,
    ...configChecks,
    ...serviceChecks,
    ...endpointChecks,
    ...rbacChecks,
    ...networkingChecks,
    ...storageChecks,
    ...autoscalingChecks,
    ...policyChecks,
    ...extensionChecks,
    ...definitionChecks,
    ...admissionChecks,
    ...flowChecks,
  } satisfies KindChecks),
);

function checkOf(info: KindInfo): KindCheck | undefined {
  if (!rootType(info.group, info.version, info.kind)) return undefined;
  return checks.get(`${info.group}/${info.kind}`);
}

/**
 * The causes for which kube-apiserver would refuse to create a defaulted and prepared `object`, in its order; empty
 * when valid. Kinds without a check of their own have their metadata checked.
 */
export function validateCreate(object: KubeObject, info: KindInfo): StatusCause[] {
  const root = new Field([]);
  metadata(object, info, root.child('metadata'));
  const body = object as unknown as JsonObject;
  checkOf(info)?.({ object: body, spec: record(body['spec']) }, root);
  return root.causes;
}

/** As validateCreate, for replacing `old`; on `/status`, whose spec is the old one, only metadata is looked at. */
export function validateUpdate(
  object: KubeObject,
  old: KubeObject,
  info: KindInfo,
  subresource?: string,
): StatusCause[] {
  const root = new Field([]);
  const custom = rootType(info.group, info.version, info.kind) === undefined;
  metadataUpdate(object, old, { ...info, custom }, subresource ?? '', root.child('metadata'));
  if (subresource !== undefined && subresource !== '') {
    const key = `${info.group}/${info.kind}/${subresource}`;
    if (Object.hasOwn(subresourceChecks, key)) subresourceChecks[key]?.(object, old, root);
    return root.causes;
  }
  const body = object as unknown as JsonObject;
  const before = old as unknown as JsonObject;
  const subject = { object: body, spec: record(body['spec']), old: before, oldSpec: record(before['spec']) };
  checkOf(info)?.(subject, root);
  return root.causes;
}
