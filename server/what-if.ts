import { mastersGroup } from '../apiserver/authz/masters.ts';
import { standing } from '../apiserver/authz/standing.ts';
import type { View } from '../apiserver/options.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../apiserver/plugins.ts';
import type { Client } from '../client/client.ts';
import { placedKind } from '../cluster/kinds.ts';
import { pathOfLogicalCluster } from '../cluster/logical.ts';
import {
  clustersAnnotation,
  group,
  logicalClusters,
  overflowAnnotation,
  physicalClusters,
  rootCluster,
  spreadAnnotation,
  volumesAnnotation,
} from '../cluster/names.ts';
import { clusterPlacementPolicies, placementPolicies } from '../cluster/policy.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { UserInfo } from '../kube/http.ts';
import type { KubeObject } from '../kube/object.ts';
import { at } from '../kube/untyped.ts';
import { copyWorld } from '../scheduler/copy.ts';
import { clusterMatters } from '../scheduler/matters.ts';
import { planOf } from '../scheduler/plan.ts';
import type { PlannedItem } from '../scheduler/plan-items.ts';
import { linesOf, mostLines, toldBeside } from '../scheduler/plan-words.ts';
import { countsOf } from './plan-counts.ts';
import { resourceOf } from './plan-request.ts';
import { PlanTurn } from './plan-turn.ts';
import { changed, planView } from './plan-view.ts';

/** A dry run is answered in time, with or without its plan. */
const longestMs = 10_000;
/** Who plans by dry runs asks for the plan of all of them later: cli/plan.ts. */
const planner = 'atoll-plan';

/** Plans, asked for and beside dry runs; none where nobody can read what the scheduler sees. */
export function plans(clientOf: (() => Client) | undefined): { admission: AdmissionPlugin[]; views: View[] } {
  if (!clientOf) return { admission: [], views: [] };
  const turn = new PlanTurn();
  return { admission: [whatIfAdmission(clientOf, turn)], views: [planView(clientOf, turn)] };
}

/**
 * Tells in Warning headers what a dry run would move. A plan reads what all tenants have, so it is told to whoever may
 * everything, and to nobody else; one that was asked for goes first, and whatever hinders it the dry run is answered.
 */
function whatIfAdmission(clientOf: () => Client, turn: PlanTurn): AdmissionPlugin {
  return {
    name: 'WhatIf',
    async validate(request) {
      const { object, cluster, user } = request;
      const asked = asksForPlan(request);
      if (!object || asked === undefined || !mayEverything(user)) return;
      try {
        const items = await turn.beside(longestMs, async (signal) => {
          const given = structuredClone(object);
          const changes = [changed({ resource: resourceOf(given, cluster), object: given }, cluster)];
          return await planOf(await copyWorld(clientOf(), changes, signal), changes, { countsOf, signal });
        });
        // Who changes a count, or looks at it by `kubectl diff`, has asked nothing about places.
        if (asked === 'how many' && toldBeside(items).length === 0) return;
        const pathOf = await pathsOf(request, items);
        for (const line of linesOf(items, cluster, pathOf)) request.warn(line);
      } catch (error) {
        request.warn(
          `plan: none was made: ${String(error instanceof Error ? error.message : error).slice(0, 200)}`,
        );
      }
    },
  };
}

/** In all logical clusters: the administrator of one alone is nobody beside it. */
function mayEverything(user: UserInfo): boolean {
  return user.groups.includes(mastersGroup) && standing(user, rootCluster) !== 'nobody';
}

/** What people call the logical clusters of what is told. */
async function pathsOf(
  { cluster: here, registry }: AdmissionRequest,
  items: readonly PlannedItem[],
): Promise<(id: string) => string> {
  const { group, resource } = logicalClusters;
  const paths = new Map<string, string>();
  for (const { logicalCluster: cluster } of toldBeside(items).slice(0, mostLines)) {
    if (cluster === here || paths.has(cluster)) continue;
    const [inside] = (await registry.list({ cluster, group, resource })).items;
    paths.set(cluster, pathOfLogicalCluster(cluster, inside?.metadata.annotations));
  }
  return (id) => paths.get(id) ?? id;
}

type Asked = Pick<
  AdmissionRequest,
  'dryRun' | 'operation' | 'subresource' | 'kind' | 'stored' | 'options' | 'object' | 'old'
>;

/** Whether it is a dry run of what says where, or how many alone: other changes are many, and move nothing. */
export function asksForPlan(request: Asked): 'where' | 'how many' | undefined {
  const { dryRun, operation, subresource, kind, stored, options, object, old } = request;
  if (!dryRun || !object || subresource !== '' || kind || options?.['fieldManager'] === planner)
    return undefined;
  if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined;
  if (saysWhere(stored.info, object, old)) return 'where';
  const isWorkload = placedKind(stored.info)?.role === 'workload';
  return isWorkload && old !== undefined && replicas(object) !== replicas(old) ? 'how many' : undefined;
}

/** Otherwise than before. */
function saysWhere(info: Asked['stored']['info'], object: KubeObject, old: KubeObject | undefined): boolean {
  const is = (other: { group: string; resource: string }) =>
    info.group === other.group && info.resource === other.resource;
  if (is(physicalClusters)) return !old || clusterMatters(object as PhysicalCluster, old as PhysicalCluster);
  if (info.group === group)
    return (is(placementPolicies) || is(clusterPlacementPolicies)) && !deepEqual(object.spec, old?.spec);
  const isNamespace = info.group === '' && info.resource === 'namespaces';
  if (!isNamespace && placedKind(info)?.role !== 'workload') return false;
  return !deepEqual(wordsOn(object), wordsOn(old));
}

function wordsOn(object: KubeObject | undefined) {
  return [clustersAnnotation, spreadAnnotation, overflowAnnotation, volumesAnnotation].map(
    (key) => object?.metadata.annotations?.[key],
  );
}

function replicas(object: KubeObject): unknown {
  return at(object, 'spec', 'replicas');
}
