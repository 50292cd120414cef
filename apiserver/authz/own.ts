import {
  controllersUser,
  group,
  logicalClusters,
  physicalClusters,
  placements,
  rootCluster,
  schedulerUser,
  servingUser,
  splitterUser,
  syncerManagerUser,
  volumeCopies,
  workspaces,
} from '../../cluster/names.ts';
import { rbacGroup } from '../../kube/rbac/rule.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { Attributes, Authorizer } from '../plugins.ts';

/** A group, a resource and a subresource, or none of it; `*` stands for any group or resource, `custom` for any group that definitions make. */
type What = readonly [group: string, resource: string, subresource: string];

interface Right {
  verbs: readonly string[];
  on: readonly What[];
  /** In the logical cluster root alone. */
  root?: true;
}

const networking = 'networking.k8s.io';
const discovery = 'discovery.k8s.io';
const reads = ['get', 'list', 'watch'];
const all: What = ['*', '*', ''];
const anyStatus: What = ['*', '*', 'status'];
const custom: What = ['custom', '*', ''];
const core = (resource: string): What => ['', resource, ''];
const events: Right = { verbs: ['get', 'create', 'patch'], on: [core('events')] };
const placing: Right = { verbs: ['create', 'patch', 'delete'], on: [[group, placements.resource, '']] };
const clusters: What = [group, physicalClusters.resource, ''];

/** Under these names, from inside: what each needs and no more. Nothing else that is ours asks as a user. */
const rights: Readonly<Record<string, readonly Right[]>> = {
  [controllersUser]: [
    // Garbage is collected, and namespaces and logical clusters are emptied, of whatever kind.
    { verbs: [...reads, 'patch', 'update', 'delete', 'deletecollection'], on: [all] },
    { verbs: ['patch', 'update'], on: [anyStatus, ['', 'namespaces', 'finalize']] },
    // Namespaces and logical clusters are furnished.
    {
      verbs: ['create'],
      on: ['namespaces', 'serviceaccounts', 'configmaps', 'services', 'endpoints'].map(core),
    },
    {
      verbs: ['create'],
      on: [
        [networking, 'servicecidrs', ''],
        [discovery, 'endpointslices', ''],
      ],
    },
    // The history of workloads shows what is refused.
    {
      verbs: ['create'],
      on: [
        ['apps', 'replicasets', ''],
        ['apps', 'controllerrevisions', ''],
      ],
    },
    { verbs: ['create'], on: [[logicalClusters.group, logicalClusters.resource, '']] },
    // Certificates of clients, once they are approved.
    { verbs: ['sign'], on: [['certificates.k8s.io', 'signers', '']] },
    // Whoever made one administers it.
    { verbs: ['create'], on: [[rbacGroup, 'clusterrolebindings', '']] },
    { verbs: ['bind'], on: [[rbacGroup, 'clusterroles', '']] },
    events,
  ],
  [schedulerUser]: [
    placing,
    // The annotation, on whatever is placed.
    { verbs: ['patch'], on: [all] },
    { verbs: ['place'], on: [clusters] },
    { verbs: ['delete'], on: [core('pods')] },
    events,
  ],
  [splitterUser]: [
    placing,
    // What a copier is asked to do, by Placements as they are now.
    { verbs: ['create', 'delete'], on: [[group, volumeCopies.resource, '']] },
    { verbs: ['get'], on: [[group, placements.resource, '']] },
    // The status of what has no subresource for it is in the object itself.
    { verbs: ['patch'], on: [anyStatus, custom] },
    { verbs: ['update'], on: [['*', '*', 'scale']] },
    events,
  ],
  [syncerManagerUser]: [
    { verbs: reads, on: [clusters, core('secrets')], root: true },
    { verbs: ['get', 'list'], on: [core('namespaces'), [group, placements.resource, '']] },
    // By which servers know of each other.
    {
      verbs: [...reads, 'create', 'patch', 'delete'],
      on: [['coordination.k8s.io', 'leases', '']],
      root: true,
    },
  ],
  [servingUser]: [{ verbs: ['list'], on: [clusters], root: true }],
};

/** Our own controllers may do what they are for; all others are asked about as ever. */
export function ownRights(authorize: Authorizer): Authorizer {
  return (asked) => (isOwnController(asked.user) ? { allowed: mayOwn(asked) } : authorize(asked));
}

function mayOwn(asked: Attributes): boolean {
  const { user, verb, cluster, path } = asked;
  // What kinds there are, and what they are.
  if (path !== undefined)
    return user.name === controllersUser && verb === 'get' && /^\/(apis?|openapi\/v3)(\/|$)/.test(path);
  return (rights[user.name] ?? []).some(
    ({ verbs, on, root }) =>
      verbs.includes(verb) && (!root || cluster === rootCluster) && on.some((one) => covers(one, asked)),
  );
}

const ours = [group, logicalClusters.group, workspaces.group];
const notCustom = new Set([...ours, ...builtinResources.map((of) => of.group)]);

function covers([group, resource, subresource]: What, asked: Attributes): boolean {
  return (
    (group === '*' || group === asked.group || (group === 'custom' && !notCustom.has(asked.group ?? ''))) &&
    (resource === '*' || resource === asked.resource) &&
    subresource === asked.subresource
  );
}
