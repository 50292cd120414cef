import type { Client } from '../client/client.ts';
import { decodeJsonText } from '../kube/json.ts';
import type { KubeObject } from '../kube/object.ts';
import { lastApplied } from '../kube/patch/last-applied.ts';
import { isStatusError } from '../kube/status.ts';
import { at, getOwn, isRecord } from '../kube/untyped.ts';
import { resourceOf } from '../server/plan-request.ts';
import type { Place } from './connection.ts';

const clusterScoped: readonly string[] = ['namespaces', 'physicalclusters', 'clusterplacementpolicies'];
/** No plan is made beside its dry runs: server/what-if.ts. */
const fieldManager = 'atoll-plan';

/**
 * What the API would make of an object that is applied: what whoever applied it before said, and it does not say any more, goes.
 * Lists are then as it has them.
 */
export async function applied(
  client: Client,
  given: KubeObject,
  { cluster, namespace }: Place,
): Promise<KubeObject> {
  const resource = resourceOf(given, cluster);
  const isNamespaced = !clusterScoped.includes(resource.resource);
  const { name = '', namespace: own = namespace } = given.metadata;
  const target = { cluster, name, ...(isNamespaced && { namespace: own }) };
  const { managedFields: _fields, resourceVersion: _version, ...metadata } = given.metadata;
  const body = { ...given, metadata, status: undefined };
  const live = await client.get(resource, target).catch((error: unknown) => {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  });
  const before = live && saidBefore(live);
  if (!live || before === undefined)
    return await client.patch(resource, target, 'apply', body, { dryRun: true, force: true, fieldManager });
  return await client.patch(resource, target, 'merge', without(body, before, live), {
    dryRun: true,
    fieldManager,
  });
}

type Fields = Record<string, unknown>;

/** As client-side apply remembers it, or as the fields of who applies server-side have it; undefined: nobody does, or several do. */
export function saidBefore(live: KubeObject): Fields | undefined {
  const text = lastApplied(live);
  if (text !== undefined) {
    try {
      const { value } = decodeJsonText(text);
      return isRecord(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }
  const { managedFields = [] } = live.metadata;
  const appliers = managedFields.filter(
    ({ operation, subresource }) => operation === 'Apply' && !subresource,
  );
  const [applier, ...others] = appliers.filter(({ manager }) => manager !== fieldManager);
  return applier && others.length === 0 ? fieldsOf(applier.fieldsV1) : undefined;
}

function fieldsOf(fieldsV1: unknown): Fields {
  if (!isRecord(fieldsV1)) return {};
  const named = Object.entries(fieldsV1).filter(([key]) => key.startsWith('f:'));
  return Object.fromEntries(named.map(([key, below]) => [key.slice(2), fieldsOf(below)]));
}

/** What is said of an object by whoever applies it; all else of its metadata is what it is called, or the server's. */
const appliedMetadata = ['labels', 'annotations'];

/**
 * As a merge patch: what was said before and is not any more is null. A whole map is where client-side apply said it, as there, but for
 * labels and annotations; of what was said server-side there stays what others have in it, and no map that would be empty.
 */
export function without(now: KubeObject, before: Fields, live: KubeObject): Fields {
  const { apiVersion: _api, kind: _kind, metadata: was, status: _status, ...rest } = before;
  const metadata = isRecord(was) ? Object.entries(was).filter(([key]) => appliedMetadata.includes(key)) : [];
  const isClientSide = lastApplied(live) !== undefined;
  const others = isClientSide ? { metadata: live.metadata } : live;
  const said = { ...rest, metadata: Object.fromEntries(metadata) };
  const patch = removed(now as unknown as Fields, said, others as Fields);
  return isClientSide && now.kind === 'Deployment' ? ofOneStrategy(patch, live) : patch;
}

/** Its strategies exclude each other, and the API fills in what one of them has: `patchStrategy: retainKeys`, which server-side apply has not. */
function ofOneStrategy(patch: Fields, live: KubeObject): Fields {
  const spec = getOwn(patch, 'spec');
  const [now, there] = [at(patch, 'spec', 'strategy'), at(live, 'spec', 'strategy')];
  if (!isRecord(spec) || !isRecord(now) || !isRecord(there)) return patch;
  const none = Object.keys(there).map((key) => [key, null]);
  return { ...patch, spec: { ...spec, strategy: { ...Object.fromEntries(none), ...now } } };
}

function removed(now: Fields, before: Fields, live: Fields): Fields {
  const changes = Object.entries(before).flatMap(([key, was]): [string, unknown][] => {
    const [is, there] = [getOwn(now, key), getOwn(live, key)];
    const isMap = isRecord(was) && Object.keys(was).length > 0;
    if (isMap && isRecord(is)) return [[key, removed(is, was, isRecord(there) ? there : {})]];
    if (is !== undefined) return [];
    return [[key, isMap && isRecord(there) && hasMore(there, was) ? removed({}, was, there) : null]];
  });
  return { ...now, ...Object.fromEntries(changes) };
}

/** Of what is there something was not said. */
function hasMore(there: Fields, was: Fields): boolean {
  return Object.entries(there).some(([key, value]) => {
    const said = getOwn(was, key);
    if (said === undefined) return true;
    return isRecord(value) && isRecord(said) && Object.keys(said).length > 0 && hasMore(value, said);
  });
}
