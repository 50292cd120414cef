import type { GroupVersionKind, GroupVersionResource } from '../../../kube/gvk.ts';
import type { UserInfo } from '../../../kube/http.ts';
import { andThen, type Later } from '../../../kube/later.ts';
import type { JsonObject, KubeObject } from '../../../kube/object.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import type { ServedResource } from '../../served.ts';
import { matchedResource } from './match.ts';
import type { Rule, Selecting } from './selecting.ts';

/** One request as a webhook or a policy sees it; objects are in the version of `kind`. */
export interface Question {
  kind: GroupVersionKind;
  resource: GroupVersionResource;
  requestKind: GroupVersionKind;
  requestResource: GroupVersionResource;
  subresource: string;
  namespace: string;
  name: string;
  operation: string;
  user: UserInfo;
  object: KubeObject | undefined;
  old: KubeObject | undefined;
  dryRun: boolean;
  options: JsonObject | undefined;
}

/** The request, and the version in which it is shown. */
export interface Meant {
  question: Question;
  as: ServedResource;
}

/** The request in the version that is selected; undefined: it is not. `excluded` are rules for what is not meant. */
export async function selected(
  selecting: Selecting,
  request: AdmissionRequest,
  catalog: Catalog,
  excluded: readonly Rule[] = [],
): Promise<Meant | undefined> {
  const { info } = request.requested;
  const isNamespace = info.group === '' && info.resource === 'namespaces';
  const namespace = isNamespace ? request.name : request.namespace;
  if (!selectsObject(selecting, request)) return undefined;
  const target = {
    ...gvrOf(info),
    namespace,
    subresource: request.subresource,
    operation: request.operation,
    name: saidName(request),
  };
  const versions = versionsOf(request, catalog);
  const equivalents = versions.map((one) => gvrOf(one.info));
  const { equivalent } = selecting;
  if (matchedResource({ rules: [...excluded], equivalent }, target, equivalents)) return undefined;
  const found = matchedResource(selecting, target, equivalents);
  const as = found && [request.requested, ...versions].find((one) => sameResource(one.info, found));
  if (as === undefined) return undefined;
  if (namespace !== '' && !(await selectsNamespace(selecting, request, namespace))) return undefined;
  return { as, question: await questionOf(request, as) };
}

/** The versions, and for events groups, in which the same objects are served. */
function versionsOf({ requested, cluster }: AdmissionRequest, catalog: Catalog): ServedResource[] {
  const { info } = requested;
  const groups = info.resource === 'events' ? ['', 'events.k8s.io'] : [info.group];
  return catalog
    .resources(cluster)
    .filter((one) => one.info.resource === info.resource && groups.includes(one.info.group));
}

function selectsObject(hook: Selecting, { object, old }: AdmissionRequest): boolean {
  const { requirements, matches } = hook.objectSelector;
  if (requirements.length === 0) return true;
  return [object, old].some((one) => one !== undefined && matches(one.metadata?.labels ?? {}));
}

async function selectsNamespace(hook: Selecting, request: AdmissionRequest, name: string): Promise<boolean> {
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

/** As it is by now. */
export function questionOf(request: AdmissionRequest, as: ServedResource): Later<Question> {
  const { kind, object, old } = request;
  const shown = (one: KubeObject | undefined) =>
    one === undefined || kind !== undefined ? one : request.inVersion(one, as);
  return andThen(shown(object), (is) => andThen(shown(old), (was) => shownOf(request, as, is, was)));
}

function shownOf(
  request: AdmissionRequest,
  as: ServedResource,
  object: KubeObject | undefined,
  old: KubeObject | undefined,
): Question {
  const { requested, kind, operation } = request;
  const { group, resource } = requested.info;
  const isNamespace = group === '' && resource === 'namespaces';
  return {
    kind: kind ?? as.info,
    resource: as.info,
    requestKind: kind ?? requested.info,
    requestResource: requested.info,
    subresource: request.subresource,
    namespace: isNamespace ? request.name : request.namespace,
    name: saidName(request),
    operation,
    user: request.user,
    object: operation === 'CREATE' && request.fresh ? withoutIdentity(object) : headless(object, operation),
    old,
    dryRun: request.dryRun,
    options: request.options,
  };
}

/** A new object gets uid and time after the mutating webhooks. */
function withoutIdentity(object: KubeObject | undefined): KubeObject | undefined {
  if (object === undefined) return undefined;
  const { uid: _uid, creationTimestamp: _created, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** What a connection is opened with has no metadata. */
function headless(object: KubeObject | undefined, operation: string): KubeObject | undefined {
  if (operation !== 'CONNECT' || object === undefined) return object;
  const { metadata: _metadata, ...rest } = object;
  return rest as KubeObject;
}

function saidName({ collection, name }: AdmissionRequest): string {
  return collection ? '' : name;
}

/** The request as expressions see it: what is empty is not there, which `has()` tells. */
export function requestOf(question: Question): Record<string, unknown> {
  const { kind, resource, requestKind, requestResource, user, options } = question;
  const { subresource, namespace, name } = question;
  return {
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group: resource.group, version: resource.version, resource: resource.resource },
    ...(subresource && { subResource: subresource }),
    requestKind: { group: requestKind.group, version: requestKind.version, kind: requestKind.kind },
    requestResource: {
      group: requestResource.group,
      version: requestResource.version,
      resource: requestResource.resource,
    },
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation: question.operation,
    userInfo: {
      ...(user.name && { username: user.name }),
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: [...user.groups] }),
      ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    dryRun: question.dryRun,
    options: options ?? null,
  };
}
