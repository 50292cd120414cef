import type { ApiResponse } from '../../kube/http.ts';
import type { Later } from '../../kube/later.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { applyServerSide } from '../../kube/patch/managed.ts';
import type { InVersion } from '../../kube/patch/ownership.ts';
import { builtinResources, schemaOf } from '../../kube/schema/builtin.ts';
import { conversionProblem } from '../../kube/schema/convert.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import { admissionFor } from '../admission/chain.ts';
import type { ResourceExchange } from '../core.ts';
import { conform, type Decoding, decodeBody } from '../decode/body.ts';
import { noDuplicates } from '../decode/duplicates.ts';
import { bodyEncoding } from '../decode/media.ts';
import { type WriteQuery, writeQuery } from '../decode/options.ts';
import { isNamed, kindly, type PatchType, refusedPatch } from '../decode/patched.ts';
import { encoded, formOf, shapeObject } from '../encode/respond.ts';
import { decodeStored } from '../registry/codec.ts';
import { withVersions } from '../registry/converting.ts';
import { managementOf } from '../registry/managers.ts';
import { updateObject } from '../registry/write.ts';
import type { ServedResource } from '../served.ts';
import { decodeApplied, unconvertible } from './writes/applied.ts';
import { writeContext } from './writes/context.ts';
import { patcher, patchType } from './writes/patching.ts';
import { checkName, checkNamespace, requireName } from './writes/request.ts';
import { pathsOf, pinned, requireReplicas, scaled, scaleOf, writePath } from './writes/scale-object.ts';

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
  const type = info.verb === 'patch' ? patchType({ ...exchange, served: scaleServed }) : undefined;
  const query = writeQuery(exchange, kind, type === 'apply');
  if (type === 'apply') return applyScale(exchange, query);
  const decoding = { validation: query.validation, warn: (text: string) => exchange.warnings.add(text) };
  const sent = type === undefined ? decodeScale(exchange, decoding) : undefined;
  if (sent) checkScale(exchange, sent);
  const change = (object: KubeObject): KubeObject => {
    const current = scaleOf(object, stored);
    const wanted =
      type === undefined
        ? (sent ?? current)
        : patched(exchange, type, current as unknown as JsonObject, decoding);
    if (type !== undefined) checkScale(exchange, wanted);
    return scaled(object, stored, wanted);
  };
  const context = {
    ...writeContext(exchange, query, 'UPDATE', ''),
    ...scaleAdmission(exchange, query.dryRun),
    ownedUnder: 'scale',
  };
  const object = await updateObject(core.registry, stored, info, change, context);
  return respondScale(exchange, scaleOf(object, stored));
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
  if (after !== result && !isNamed(result)) {
    throw refusedPatch(about, conversionProblem(result, scaleInfo) ?? '');
  }
  return conform(after, noDuplicates, scaleServed, {
    ...decoding,
    ...(written && { literals: written }),
    refuse: (why) => refusedPatch(about, why),
  });
}

/** Server-side apply of a Scale: whoever applies it owns the object's replicas, and nothing else. */
async function applyScale(exchange: ResourceExchange, query: WriteQuery): Promise<ApiResponse> {
  const { core, info, stored } = exchange;
  const { object: applied } = decodeApplied({ ...exchange, served: scaleServed });
  const management = managementOf(core.registry, info.cluster, stored, { subresource: 'scale' });
  const { converting } = core.registry;
  const merged = (live: KubeObject, inVersion?: InVersion): KubeObject => {
    const { kind, apiVersion } = live;
    const wanted: KubeObject = { kind, apiVersion, metadata: { name: info.name } };
    const { replicas } = (applied.spec ?? {}) as { replicas?: number };
    if (replicas !== undefined) writePath(wanted, pathsOf(stored).specReplicasPath, replicas);
    const { manager, force } = query;
    const by = { ...management, manager, force, ...(inVersion && { inVersion }) };
    const { object } = applyServerSide(live, wanted, by);
    const scale = conform(applied as unknown as JsonObject, noDuplicates, scaleServed, {
      validation: 'Ignore',
      warn: () => {},
      refuse: (why) =>
        unconvertible(applied, conversionProblem(applied as unknown as JsonObject, scaleInfo) ?? why),
    });
    checkScale(exchange, scale);
    return pinned(withoutTime(object, manager), scale);
  };
  const change = (live: KubeObject): Later<KubeObject> =>
    converting ? withVersions(converting, stored, (inVersion) => merged(live, inVersion)) : merged(live);
  const context = {
    ...writeContext(exchange, query, 'UPDATE', ''),
    ...scaleAdmission(exchange, query.dryRun),
    managed: true,
    pinned: Boolean(applied.metadata.resourceVersion),
  };
  const object = await updateObject(core.registry, stored, info, change, context);
  return respondScale(exchange, scaleOf(object, stored));
}

/** kube-apiserver keeps no time of who applied a Scale. */
function withoutTime(object: KubeObject, manager: string): KubeObject {
  const managedFields = object.metadata.managedFields?.map(({ time, ...entry }) =>
    entry.manager === manager && entry.subresource === 'scale' ? entry : { ...entry, ...(time && { time }) },
  );
  return { ...object, metadata: { ...object.metadata, ...(managedFields && { managedFields }) } };
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
