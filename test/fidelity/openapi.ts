import type { Json, JsonObject } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';

const methods = ['get', 'put', 'post', 'delete', 'patch', 'options', 'head'];

/** Groups that only Atoll serves. */
const ownGroups: readonly string[] = ['atoll.dev', 'core.kcp.io', 'tenancy.kcp.io', 'metrics.k8s.io'];

/** Served by one server alone, or made by another case that runs at the same time. */
export function isForeign(group: string | undefined): boolean {
  return group !== undefined && (ownGroups.includes(group) || group.endsWith('.example.com'));
}

export function isOpenApi(body: Json): body is JsonObject {
  return isRecord(body) && ('swagger' in body || 'openapi' in body) && isRecord(body['paths']);
}

/**
 * An OpenAPI document of either version in one form: parameters where they are used, in the order of their names;
 * operations without prose; and without the groups that only Atoll serves, or that other cases made: theirs begin with
 * `own`, which becomes a placeholder.
 */
export function plainOpenApi(document: JsonObject, own: string): JsonObject {
  const shared = (document['parameters'] ?? {}) as JsonObject;
  const paths = Object.entries(document['paths'] as JsonObject)
    .filter(([path]) => path.startsWith(`/apis/${own}.`) || !isForeign(/^\/apis\/([^/]+)\//.exec(path)?.[1]))
    .map(([path, item]): [string, Json] => [path, plainPath(item as JsonObject, shared)]);
  const definitions = (document['definitions'] ?? undefined) as JsonObject | undefined;
  const { parameters: _, ...rest } = document;
  const isOthers = (name: string) =>
    /^(dev\.atoll|io\.kcp|io\.k8s\.metrics|com\.example)\./.test(name) && !name.includes(`.${own}.`);
  const plain: JsonObject = {
    ...rest,
    paths: withoutProse(Object.fromEntries(paths)),
    ...(definitions && {
      definitions: Object.fromEntries(Object.entries(definitions).filter(([name]) => !isOthers(name))),
    }),
  };
  const text = JSON.stringify(plain);
  const title = own.slice(0, 1).toUpperCase() + own.slice(1);
  return JSON.parse(text.replaceAll(own, '<name>').replaceAll(title, '<Name>')) as JsonObject;
}

function plainPath(item: JsonObject, shared: JsonObject): JsonObject {
  const common = Array.isArray(item['parameters']) ? item['parameters'] : [];
  const entries = Object.entries(item).filter(([name]) => methods.includes(name));
  return Object.fromEntries(
    entries.map(([name, operation]): [string, Json] => {
      const own = (operation as JsonObject)['parameters'];
      const parameters = [...common, ...(Array.isArray(own) ? own : [])].map((p) => resolve(p, shared));
      parameters.sort((a, b) => (JSON.stringify(nameOf(a)) < JSON.stringify(nameOf(b)) ? -1 : 1));
      return [name, { ...(operation as JsonObject), parameters }];
    }),
  );
}

function nameOf(parameter: Json): Json {
  return isRecord(parameter) ? ((parameter['name'] as Json) ?? '') : '';
}

function resolve(parameter: Json, shared: JsonObject): Json {
  const reference = isRecord(parameter) ? parameter['$ref'] : undefined;
  if (typeof reference !== 'string') return parameter;
  return shared[reference.slice('#/parameters/'.length)] ?? parameter;
}

/** `description` is prose wherever it is text; a field of that name has a schema. */
function withoutProse(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value as JsonObject).filter(
    ([key, item]) => key !== 'description' || typeof item !== 'string',
  );
  return Object.fromEntries(kept.map(([key, item]): [string, Json] => [key, withoutProse(item)]));
}
