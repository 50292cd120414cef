import { conform } from '../apiserver/decode/body.ts';
import { noDuplicates } from '../apiserver/decode/duplicates.ts';
import { defaulted } from '../apiserver/registry/context.ts';
import type { ServedResource } from '../apiserver/served.ts';
import { placedKinds } from '../cluster/kinds.ts';
import { isLogicalClusterName, physicalClusters, rootCluster } from '../cluster/names.ts';
import { clusterPlacementPolicies, placementPolicies } from '../cluster/policy.ts';
import { decodeJson } from '../kube/json.ts';
import { validateDns1123Label, validateDns1123Subdomain } from '../kube/names.ts';
import type { JsonObject, KubeObject } from '../kube/object.ts';
import { mismatches, type Shape } from '../kube/shape.ts';
import { badRequest, invalid } from '../kube/status.ts';
import { isRecord, textAt } from '../kube/untyped.ts';
import { validateCreate } from '../kube/validation/index.ts';
import type { Changed } from '../scheduler/copy.ts';

/** What is asked: these objects, each whole as it would be, in the logical cluster `cluster`; these clusters drained, or rebalanced. */
export interface PlanRequest {
  /** A path or an id; default root. */
  cluster?: string;
  objects?: KubeObject[];
  /** Names of physical clusters. */
  drain?: string[];
  rebalance?: string[];
}

export interface Asked {
  cluster: string;
  objects: readonly JsonObject[];
  drain: readonly string[];
  rebalance: readonly string[];
}

const shape: Shape = { cluster: 'string', drain: ['string'], rebalance: ['string'] };
const deeds = ['drain', 'rebalance'] as const;

/** Throws StatusError 400 that names what it does not mean: nothing is passed over. */
export function readRequest(body: Uint8Array): Asked {
  const { value, duplicates } = decoded(body);
  if (!isRecord(value))
    throw badRequest('the body must be an object with cluster, objects, drain and rebalance');
  const { objects = [], ...others } = value;
  const wrong = [...mismatches(others, shape), ...duplicates.map((path) => `duplicate field "${path}"`)];
  if (!Array.isArray(objects)) wrong.push('objects must be a list');
  else
    wrong.push(
      ...objects.flatMap((one, index) => (isRecord(one) ? [] : [`objects[${index}] must be an object`])),
    );
  if (wrong.length > 0) throw badRequest(wrong.join(', '));
  const { cluster, drain, rebalance } = others as { [name in keyof PlanRequest]?: PlanRequest[name] | null };
  const asked = {
    cluster: cluster ?? rootCluster,
    objects: objects as JsonObject[],
    drain: drain ?? [],
    rebalance: rebalance ?? [],
  };
  if (!isLogicalClusterName(asked.cluster))
    throw badRequest(`cluster: ${JSON.stringify(asked.cluster)} is not a logical cluster's name`);
  for (const deed of deeds)
    for (const [index, name] of asked[deed].entries())
      if (validateDns1123Subdomain(name ?? '').length > 0)
        throw badRequest(`${deed}[${index}]: ${JSON.stringify(name)} is not a physical cluster's name`);
  if (asked.objects.length + asked.drain.length + asked.rebalance.length === 0)
    throw badRequest('objects, drain and rebalance are empty: there is nothing to plan');
  return asked;
}

function decoded(body: Uint8Array) {
  try {
    return decodeJson(body, { strict: true });
  } catch {
    throw badRequest('the body is no JSON');
  }
}

/**
 * An object as the API would take it: of a kind that a plan can be about, each field known and of its type, with its
 * defaults. Of what shows by a uid that the API has seen it whole, only where it is counts. Throws StatusError 400 or 422
 * that names the field below `at`.
 */
export function readObject(
  given: JsonObject,
  at: string,
  cluster: string,
  serve: (resource: Changed['resource']) => ServedResource | undefined,
): Changed {
  for (const path of [['apiVersion'], ['kind'], ['metadata', 'name']])
    if (!textAt(given, ...path)) throw badRequest(`${at}.${path.join('.')} must be a string, and not empty`);
  const refuse = (why: string) => badRequest(`${at}: ${why}`);
  const resource = resourceOf(given as unknown as KubeObject, cluster, `${at}: `);
  const served = serve(resource);
  if (served === undefined) throw refuse(`${resource.resource} are not served`);
  const decoding = { validation: 'Strict', warn: () => {}, refuse } as const;
  const object = defaulted(conform(given, noDuplicates, served, decoding), served);
  const { name = '', namespace, uid } = object.metadata;
  if (namespace && validateDns1123Label(namespace).length > 0)
    throw badRequest(`${at}.metadata.namespace: ${JSON.stringify(namespace)} is not a namespace's name`);
  const causes = (served.validate?.(object, undefined, '') ?? validateCreate(object, served.info)).filter(
    ({ field }) => served.custom || !uid || field?.startsWith('metadata.'),
  );
  if (causes.length > 0) {
    const below = causes.map((cause) => ({ ...cause, field: `${at}.${cause.field}` }));
    throw invalid(served.info.group, served.info.kind, name, below);
  }
  return { resource, object };
}

/** Of an object that a plan can be about. Throws a StatusError for any other. */
export function resourceOf({ apiVersion, kind }: KubeObject, cluster: string, at = ''): Changed['resource'] {
  const found = plannedKinds.find((known) => known.kind === kind && versionOf(known) === apiVersion);
  if (!found)
    throw badRequest(
      `${at}no plan can be made of ${kind} (${apiVersion}), only of ${plannedKinds.map((known) => known.kind).join(', ')}`,
    );
  if (found.kind === 'PhysicalCluster' && cluster !== rootCluster)
    throw badRequest(`${at}physical clusters are those of the logical cluster root`);
  return { group: found.group, version: found.version, resource: found.resource };
}

const plannedKinds = [
  ...placedKinds,
  { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace' },
  { ...physicalClusters, kind: 'PhysicalCluster' },
  { ...placementPolicies, kind: 'PlacementPolicy' },
  { ...clusterPlacementPolicies, kind: 'ClusterPlacementPolicy' },
];

function versionOf({ group, version }: { group: string; version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}
