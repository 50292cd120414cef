// What a developer with a Role in one namespace is refused, in kubectl's words: whole, or those that it begins with.
const user = 'Error from server (Forbidden): ';
const annCannot = (verb: string, resource: string, group: string, where: string) =>
  `User "ann" cannot ${verb} resource "${resource}" in API group "${group}" ${where}\n`;
const forbidden = (verb: string, resource: string, group = '', where = 'at the cluster scope') =>
  `${user}${group === '' ? resource : `${resource}.${group}`} is forbidden: ${annCannot(verb, resource, group, where)}`;
const inOther = 'in the namespace "other"';
const rbac = 'rbac.authorization.k8s.io';
const mayPlace = (who: string, cluster: string) =>
  `${user}deployments.apps "web" is forbidden: User "${who}" cannot place on physicalclusters.atoll.dev/${cluster} in the namespace "default": the annotation atoll.dev/clusters needs the verb "place"`;

/** In other namespaces. */
export const otherNamespaces: [args: string, says: string][] = [
  ['get pods -n other', forbidden('list', 'pods', '', inOther)],
  ['get pods -A', forbidden('list', 'pods')],
  ['get secrets -n other', forbidden('list', 'secrets', '', inOther)],
  [
    'get secret hidden -n other',
    `${user}secrets "hidden" is forbidden: ${annCannot('get', 'secrets', '', inOther)}`,
  ],
  ['get secrets -A', forbidden('list', 'secrets')],
  [
    'create configmap x -n other',
    `error: failed to create configmap: configmaps is forbidden: ${annCannot('create', 'configmaps', '', inOther)}`,
  ],
  [
    'create configmap x -n nowhere',
    `error: failed to create configmap: configmaps is forbidden: ${annCannot('create', 'configmaps', '', 'in the namespace "nowhere"')}`,
  ],
  [
    'create token default -n other',
    `error: failed to create token: serviceaccounts "default" is forbidden: ${annCannot('create', 'serviceaccounts/token', '', inOther)}`,
  ],
  ['exec -n other web -- true', `${user}pods "web" is forbidden: ${annCannot('get', 'pods', '', inOther)}`],
  [
    'annotate ns other atoll.dev/clusters=east',
    `${user}namespaces "other" is forbidden: ${annCannot('get', 'namespaces', '', inOther)}`,
  ],
];

/** Of the whole logical cluster. */
export const wholeCluster: [args: string, says: string][] = [
  ['get ns', forbidden('list', 'namespaces')],
  ['create ns mine', forbidden('create', 'namespaces')],
  [
    'delete ns default',
    `${user}namespaces "default" is forbidden: ${annCannot('delete', 'namespaces', '', 'in the namespace "default"')}`,
  ],
  ['get nodes', forbidden('list', 'nodes')],
  ['get clusterroles', forbidden('list', 'clusterroles', rbac)],
  ['get crd', forbidden('list', 'customresourcedefinitions', 'apiextensions.k8s.io')],
  [
    'get mutatingwebhookconfigurations',
    forbidden('list', 'mutatingwebhookconfigurations', 'admissionregistration.k8s.io'),
  ],
  ['get workspaces', forbidden('list', 'workspaces', 'tenancy.kcp.io')],
  [
    'get logicalcluster cluster',
    `${user}logicalclusters.core.kcp.io "cluster" is forbidden: ${annCannot('get', 'logicalclusters', 'core.kcp.io', 'at the cluster scope')}`,
  ],
  ['get physicalclusters', forbidden('list', 'physicalclusters', 'atoll.dev')],
  ['get --raw /metrics', `${user}forbidden: User "ann" cannot get path "/metrics"\n`],
];

/** What is not hers in her own namespace. */
export const herOwn: [args: string, says: string][] = [
  ['annotate deploy web atoll.dev/clusters=north --overwrite', mayPlace('ann', 'north')],
  ['annotate deploy web atoll.dev/clusters=east,north --overwrite', mayPlace('ann', 'north')],
  [
    'delete placement web.deployments.apps',
    `${user}placements.atoll.dev "web.deployments.apps" is forbidden: User "ann" cannot delete resource "placements" in API group "atoll.dev" in the namespace "default": placements are written by the system\n`,
  ],
  [
    'create quota none --hard=pods=100',
    `error: failed to create quota: resourcequotas is forbidden: ${annCannot('create', 'resourcequotas', '', 'in the namespace "default"')}`,
  ],
];

const more = (who: string) =>
  `user "${who}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n`;
const all = '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}\n';
const hers = [
  '{APIGroups:[""], Resources:["namespaces"], ResourceNames:["default"], Verbs:["patch"]}\n',
  '{APIGroups:["atoll.dev"], Resources:["physicalclusters"], ResourceNames:["east"], Verbs:["place"]}\n',
  '{APIGroups:["atoll.dev"], Resources:["physicalclusters"], ResourceNames:["west"], Verbs:["place"]}\n',
  '{APIGroups:["atoll.dev"], Resources:["placements"], Verbs:["get" "list" "watch"]}\n',
].join('');
/** Who gives out rights, or takes them. */
export const rights: [who: 'ann' | 'bea', args: string, says: string][] = [
  [
    'ann',
    'create role x --verb=get --resource=pods',
    forbidden('create', 'roles', rbac, 'in the namespace "default"'),
  ],
  [
    'ann',
    'create rolebinding x --clusterrole=cluster-admin --user=ann',
    `error: failed to create rolebinding: rolebindings.${rbac} is forbidden: ${annCannot('create', 'rolebindings', rbac, 'in the namespace "default"')}`,
  ],
  [
    'ann',
    'create clusterrolebinding x --clusterrole=cluster-admin --user=ann',
    `error: failed to create clusterrolebinding: clusterrolebindings.${rbac} is forbidden: ${annCannot('create', 'clusterrolebindings', rbac, 'at the cluster scope')}`,
  ],
  [
    'bea',
    'create role x --verb=get --resource=nodes',
    `${user}roles.${rbac} "x" is forbidden: ${more('bea')}{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}\n`,
  ],
  [
    'bea',
    'create role x --verb=place --resource=physicalclusters.atoll.dev',
    `${user}roles.${rbac} "x" is forbidden: ${more('bea')}{APIGroups:["atoll.dev"], Resources:["physicalclusters"], Verbs:["place"]}`,
  ],
  [
    'bea',
    'create rolebinding x --clusterrole=cluster-admin --user=bea',
    `error: failed to create rolebinding: rolebindings.${rbac} "x" is forbidden: ${more('bea')}${all}`,
  ],
  [
    'bea',
    'create rolebinding x --role=placing --user=bea',
    `error: failed to create rolebinding: rolebindings.${rbac} "x" is forbidden: ${more('bea')}${hers}`,
  ],
  ['bea', 'annotate deploy web atoll.dev/clusters=east --overwrite', mayPlace('bea', 'east')],
];

const inDefault = 'in the namespace "default"';
/** By the first way in which she might have been allowed to. */
const mayListAs = (mode: string) =>
  `${user}pods is forbidden: ${annCannot(`impersonate-on:${mode}:list`, 'pods', '', inDefault)}`;
/** As somebody else. */
export const others: [args: string, says: string][] = [
  ['--as=admin', mayListAs('user-info')],
  ['--as=bea', mayListAs('user-info')],
  ['--as=ann --as-group=system:masters', mayListAs('user-info')],
  ['--as=system:serviceaccount:other:default', mayListAs('serviceaccount')],
];

const inSystem = 'in the namespace "atoll-system"';
const path = (at: string) => `${user}forbidden: User "ann" cannot get path "${at}"\n`;
/** Below the server, in other logical clusters and across them: what is there and what is not are told apart by no word. */
export const elsewhere: [path: string, says: string][] = [
  ['/clusters/root/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
  ['/clusters/root:team-b/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
  ['/clusters/root:none/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
  ['/clusters/root:team-a:none/api/v1/namespaces/default/pods', forbidden('list', 'pods', '', inDefault)],
  ['/clusters/*/api/v1/pods', forbidden('list', 'pods')],
  ['/clusters/*/api/v1/secrets', forbidden('list', 'secrets')],
  ['/clusters/root/api/v1/namespaces/atoll-system/secrets', forbidden('list', 'secrets', '', inSystem)],
  ['/api/v1/namespaces/atoll-system/secrets', forbidden('list', 'secrets', '', inSystem)],
  ['/apis/atoll.dev/v1alpha1/physicalclusters', forbidden('list', 'physicalclusters', 'atoll.dev')],
  ['/syncers/east/api/v1/pods', path('/syncers/east/api/v1/pods')],
  ['/backup', path('/backup')],
  ['/metrics', path('/metrics')],
  ['/plan', path('/plan')],
  ['/debug/pprof/heap', path('/debug/pprof/heap')],
];
