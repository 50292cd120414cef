import { formatApiVersion, type GroupVersionResource } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import { fromStored } from '../../registry/convert.ts';
import type { ServedResource } from '../../served.ts';
import { meetsConditions } from './condition.ts';
import type { Hook } from './hook.ts';
import { matchedResource } from './match.ts';
import type { Question } from './review.ts';

/** One webhook, and what it is asked. */
export interface Asked {
  hook: Hook;
  question: Question;
  /** In which of its versions it wants the object. */
  as: ServedResource;
}

/** What to ask this webhook; undefined when the request is none of its business. */
export async function questionFor(
  hook: Hook,
  request: AdmissionRequest,
  catalog: Catalog,
): Promise<Asked | undefined> {
  const { info } = request.requested;
  const isNamespace = info.group === '' && info.resource === 'namespaces';
  const namespace = isNamespace ? request.name : request.namespace;
  if (!selectsObject(hook, request)) return undefined;
  const target = {
    ...gvrOf(info),
    namespace,
    subresource: request.subresource,
    operation: request.operation,
  };
  const versions = versionsOf(request, catalog);
  const found = matchedResource(
    hook,
    target,
    versions.map((one) => gvrOf(one.info)),
  );
  const as = found && [request.requested, ...versions].find((one) => sameResource(one.info, found));
  if (as === undefined) return undefined;
  if (namespace !== '' && !(await selectsNamespace(hook, request, namespace))) return undefined;
  const question = questionOf(request, as, namespace);
  return meetsConditions(hook, question) ? { hook, as, question } : undefined;
}

/** The versions, and for events groups, in which the same objects are served. */
function versionsOf({ requested, cluster }: AdmissionRequest, catalog: Catalog): ServedResource[] {
  const { info } = requested;
  const groups = info.resource === 'events' ? ['', 'events.k8s.io'] : [info.group];
  return catalog
    .resources(cluster)
    .filter((one) => one.info.resource === info.resource && groups.includes(one.info.group));
}

function selectsObject(hook: Hook, { object, old }: AdmissionRequest): boolean {
  const { requirements, matches } = hook.objectSelector;
  if (requirements.length === 0) return true;
  return [object, old].some((one) => one !== undefined && matches(one.metadata?.labels ?? {}));
}

async function selectsNamespace(hook: Hook, request: AdmissionRequest, name: string): Promise<boolean> {
  const { requirements, matches } = hook.namespaceSelector;
  if (requirements.length === 0) return true;
  const { cluster, subresource, object, registry } = request;
  const written = request.requested.info.resource === 'namespaces' && subresource === '' ? object : undefined;
  const namespace = written ?? (await registry.get({ cluster, group: '', resource: 'namespaces', name }));
  return matches(namespace.metadata.labels ?? {});
}

function gvrOf({ group, version, resource }: GroupVersionResource): GroupVersionResource {
  return { group, version, resource };
}

function sameResource(a: GroupVersionResource, b: GroupVersionResource): boolean {
  return a.group === b.group && a.version === b.version && a.resource === b.resource;
}

function questionOf(request: AdmissionRequest, as: ServedResource, namespace: string): Question {
  const { requested, kind, object, old, operation } = request;
  const shown = (one: KubeObject | undefined) =>
    one === undefined || kind !== undefined ? one : inVersion(one, as);
  return {
    kind: kind ?? as.info,
    resource: as.info,
    requestKind: kind ?? requested.info,
    requestResource: requested.info,
    subresource: request.subresource,
    namespace,
    name: request.name,
    operation,
    user: request.user,
    object: operation === 'CREATE' && request.fresh ? withoutIdentity(shown(object)) : shown(object),
    old: shown(old),
    dryRun: request.dryRun,
    options: request.options,
  };
}

function inVersion(object: KubeObject, as: ServedResource): KubeObject {
  return { ...fromStored(object, as), apiVersion: formatApiVersion(as.info), kind: as.info.kind };
}

/** A new object gets uid and time after the mutating webhooks. */
function withoutIdentity(object: KubeObject | undefined): KubeObject | undefined {
  if (object === undefined) return undefined;
  const { uid: _uid, creationTimestamp: _created, ...metadata } = object.metadata;
  return { ...object, metadata };
}
