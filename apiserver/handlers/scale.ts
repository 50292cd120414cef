import { formatApiVersion } from '../../kube/gvk.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../kube/object.ts';
import { applyServerSide, updateManagers } from '../../kube/patch/managed.ts';
import type { ApplyManagement } from '../../kube/patch/record.ts';
import { builtinResources, schemaOf } from '../../kube/schema/builtin.ts';
import { conversionProblem } from '../../kube/schema/convert.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { admissionFor } from '../admission/chain.ts';
import type { ResourceExchange } from '../core.ts';
import { conform, type Decoding, decodeBody } from '../decode/body.ts';
import { noDuplicates } from '../decode/duplicates.ts';
import { bodyEncoding } from '../decode/media.ts';
import { type WriteQuery, writeQuery } from '../decode/options.ts';
import { isNamed, kindly, type PatchType, refusedPatch } from '../decode/patched.ts';
import { encoded, formOf, shapeObject } from '../encode/respond.ts';
import { decodeStored } from '../registry/codec.ts';
import { updateObject } from '../registry/write.ts';
import type { ServedResource } from '../served.ts';
import { decodeApplied, unconvertible } from './writes/applied.ts';
import { writeContext } from './writes/context.ts';
import { patcher, patchType } from './writes/patching.ts';
import { checkName, checkNamespace, requireName } from './writes/request.ts';
import { managersByScale, managersOfScale } from './writes/scale-managers.ts';
import {
  pathsOf,
  replicasPaths,
  requireReplicas,
  scaled,
  scaleOf,
  writePath,
} from './writes/scale-object.ts';

/** autoscaling/v1 Scale, a view of the object's replicas. */
const scaleInfo: ResourceInfo = {
  ...(builtinResources.find((r) => r.group === 'autoscaling') as ResourceInfo),
  version: 'v1',
  kind: 'Scale',
};
const scaleServed: ServedResource = { info: scaleInfo, schema: schemaOf(scaleInfo) ?? { type: 'any' } };

export async function handleScale(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored } = exchange;
  if (info.verb === 'get') {
    const object = decodeStored(await core.registry.read(stored, info));
    requireReplicas(object, stored);
    return respondScale(exchange, scaleOf(object, stored));
  }
  const kind = info.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions';
  const type = info.verb === 'patch' ? patchType({ ...exchange, served: stored }) : undefined;
  const query = writeQuery(exchange, kind, type === 'apply');
  const wanted = wantedScale(exchange, query, type);
  const pathsOf = replicasPaths(stored);
  const change = (object: KubeObject): KubeObject => {
    const { managedFields: before, ...metadata } = object.metadata;
    const current = managing(scaleOf(object, stored), managersOfScale(before, pathsOf));
    const scale = wanted.change(current);
    const by = { apiVersion: formatApiVersion(stored.info), pathsOf };
    const managers = managersByScale(before, scale.metadata.managedFields, by);
    return managing(scaled({ ...object, metadata }, stored, scale, type !== undefined), managers);
  };
  const context = {
    ...writeContext(exchange, query, 'UPDATE', ''),
    ...scaleAdmission(exchange, query.dryRun),
    managed: true,
    pinned: wanted.pinned,
  };
  const object = await updateObject(core.registry, stored, info, change, context);
  return respondScale(exchange, scaleOf(object, stored));
}

interface Wanted {
  /** Decides whether a write by somebody else meanwhile is a conflict. */
  pinned: boolean;
  /** The Scale after the request, its managers included. */
  change(current: KubeObject): KubeObject;
}

function wantedScale(exchange: ResourceExchange, query: WriteQuery, type: PatchType | undefined): Wanted {
  const by = {
    schema: scaleServed.schema,
    apiVersion: formatApiVersion(scaleInfo),
    subresource: 'scale',
    time: timestamp(Date.now()),
    manager: query.manager,
  };
  if (type === 'apply') return appliedScale(exchange, { ...by, force: query.force });
  const decoding = { validation: query.validation, warn: (text: string) => exchange.warnings.add(text) };
  const sent = type === undefined ? decodeScale(exchange, decoding) : undefined;
  if (sent) checkScale(exchange, sent);
  return {
    pinned: false,
    change(current) {
      const before = current as unknown as JsonObject;
      const next = sent ?? patched(exchange, type ?? 'merge', before, decoding);
      if (!sent) checkScale(exchange, next);
      return updateManagers(current, next, by);
    },
  };
}

function decodeScale({ request, audit }: ResourceExchange, decoding: Decoding): KubeObject {
  const encoding = bodyEncoding(request.headers['content-type'], undefined);
  const scale = decodeBody(request.body ?? new Uint8Array(), encoding, scaleServed, decoding);
  audit?.sent(scale);
  return scale;
}

function checkScale(exchange: ResourceExchange, scale: KubeObject): void {
  if (exchange.info.verb === 'update') requireName(exchange, scale);
  else checkName(exchange, scale);
  checkNamespace(exchange, scale);
}

function patched(
  exchange: ResourceExchange,
  type: Exclude<PatchType, 'apply'>,
  before: JsonObject,
  decoding: Decoding,
): KubeObject {
  const { patch, value } = patcher({ ...exchange, served: scaleServed }, type);
  const { object: result, written } = patch(before);
  const after = kindly(result, type, scaleInfo);
  const about = {
    type,
    patch: value,
    before,
    after,
    schema: scaleServed.schema,
    ...(written && { written }),
  };
  const problem = () => (type === 'strategic' ? conversionProblem(result, scaleInfo) : undefined);
  if (after !== result && !isNamed(result)) throw refusedPatch(about, problem() ?? '');
  return conform(after, noDuplicates, scaleServed, {
    ...decoding,
    ...(written && { literals: written }),
    converted: type === 'strategic',
    refuse: (why) => refusedPatch(about, problem() ?? why),
  });
}

/** Server-side apply of a Scale: whoever applies it owns the object's replicas, and nothing else. */
function appliedScale(exchange: ResourceExchange, by: ApplyManagement): Wanted {
  const { object: applied } = decodeApplied({ ...exchange, served: scaleServed });
  return {
    pinned: Boolean(applied.metadata.resourceVersion),
    change(current) {
      const merged = applyServerSide(current, applied, by).object as unknown as JsonObject;
      const scale = conform(merged, noDuplicates, scaleServed, {
        validation: 'Ignore',
        warn: () => {},
        converted: true,
        refuse: (why) => unconvertible(applied, conversionProblem(merged, scaleInfo) ?? why),
      });
      checkScale(exchange, scale);
      return scale;
    },
  };
}

function managing(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  return managedFields ? { ...object, metadata: { ...object.metadata, managedFields } } : object;
}

function respondScale(exchange: ResourceExchange, scale: KubeObject): ApiResponse {
  const as = { ...exchange, served: scaleServed };
  const form = formOf(as);
  return encoded(200, shapeObject(as, scale, form), form);
}

/** Admission sees Scales, and may change how many. */
function scaleAdmission(exchange: ResourceExchange, dryRun: boolean) {
  const { stored } = exchange;
  const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const admission = admissionFor(exchange, 'UPDATE', dryRun, { kind });
  const shown = (object: KubeObject | undefined) => object && scaleOf(object, stored);
  return {
    async mutate(object: KubeObject, old: KubeObject | undefined) {
      const scale = scaleOf(object, stored);
      const { replicas: before } = scale.spec as { replicas?: number };
      await admission.mutate(scale, shown(old));
      const { replicas } = (scale.spec ?? {}) as { replicas?: number };
      if (replicas !== before) writePath(object, pathsOf(stored).specReplicasPath, replicas ?? 0);
    },
    validate: (object: KubeObject, old: KubeObject | undefined) =>
      admission.validate(shown(object), shown(old)),
  };
}
