import { objectKey } from '../../../../apiserver/registry/keys.ts';
import type { Store } from '../../../../storage/store.ts';
import type { Api } from '../../apiserver/api.ts';
import type { Rule } from './model.ts';
import type { Resource } from './routes.ts';

export const tenants = ['a', 'b'] as const;
export const namespaces = ['open', 'hidden'] as const;
export const planted = 'planted';

/** In each object, where it is: cluster, and namespace or `wide`; `kind` in a definition. */
export const marker = (cluster: string, where: string) => `mark-${cluster}-${where}-x9q`;

export const admin = { name: 'admin', groups: ['system:masters'] };
export const prefixOf = (cluster: string) => (cluster === 'root' ? '' : `/clusters/root:${cluster}`);

async function made(api: Api, url: string, object: object): Promise<void> {
  const { status, body } = await api.call('POST', url, object);
  if (status !== 201) throw new Error(`${url}: ${status} ${JSON.stringify(body)}`);
}

/** A kind of each logical cluster's own, and its namespaces. */
export async function define(api: Api, cluster: string): Promise<void> {
  const word = marker(cluster, 'kind').replaceAll('-', '');
  const names = { plural: `${word}s`, singular: word, kind: word, listKind: `${word}List` };
  const schema = { openAPIV3Schema: { type: 'object', description: marker(cluster, 'kind') } };
  await made(api, `${prefixOf(cluster)}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    metadata: { name: `${names.plural}.own.example.com` },
    spec: {
      group: 'own.example.com',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
  for (const name of namespaces) {
    const annotations = { marker: marker(cluster, name) };
    await made(api, `${prefixOf(cluster)}/api/v1/namespaces`, { metadata: { name, annotations } });
  }
}

/** Not stored, or said otherwise, or read by the server itself for what it is. */
const unplanted = new Set([
  'namespaces',
  'customresourcedefinitions',
  'logicalclusters',
  'componentstatuses',
]);

/** One object of every kind in each place, past admission: a route that is added is in it by itself. */
export async function plant(
  store: Store,
  cluster: string,
  id: string,
  resources: Resource[],
): Promise<string[]> {
  const keys = new Set<string>();
  for (const { group, version, resource, kind, namespaced } of resources) {
    if (unplanted.has(resource) || /reviews$|^bindings$/.test(resource)) continue;
    for (const where of namespaced ? namespaces : ['wide']) {
      const namespace = namespaced ? where : '';
      const key = objectKey({ group, resource, namespaced }, id, namespace, planted);
      if (keys.has(key)) continue;
      const object = {
        kind,
        apiVersion: group === '' ? version : `${group}/${version}`,
        metadata: {
          name: planted,
          ...(namespaced && { namespace }),
          uid: `uid-${cluster}-${where}`,
          creationTimestamp: '2020-01-01T00:00:00Z',
          labels: { planted: 'yes' },
          annotations: { marker: marker(cluster, where) },
        },
      };
      await store.create(key, Buffer.from(JSON.stringify(object)));
      keys.add(key);
    }
  }
  return [...keys];
}

const rbac = '/apis/rbac.authorization.k8s.io/v1';
export const own: readonly Rule[] = [
  { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['configmaps'], resourceNames: [planted] },
  { verbs: ['get'], apiGroups: [''], resources: ['pods/log', 'pods/exec'] },
  { verbs: ['create'], apiGroups: [''], resources: ['pods/portforward', 'pods/eviction'] },
  { verbs: ['patch'], apiGroups: ['apps'], resources: ['*/scale'] },
  { verbs: ['*'], apiGroups: ['own.example.com'], resources: ['*'] },
  { verbs: ['get', 'list'], apiGroups: ['*'], resources: ['secrets/status'] },
];
export const statistics: readonly Rule[] = [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/logs/*'] }];

export async function bind(api: Api): Promise<void> {
  const subject = (kind: string, name: string) => ({ kind, apiGroup: 'rbac.authorization.k8s.io', name });
  const ref = (name: string, kind = 'ClusterRole') => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
  const binding = (name: string, roleRef: object, subjects: object[]) => ({
    metadata: { name },
    roleRef,
    subjects,
  });
  const account = [{ kind: 'ServiceAccount', namespace: 'open', name: planted }];
  const at = (cluster: string, namespace?: string) =>
    `${prefixOf(cluster)}${rbac}/${namespace ? `namespaces/${namespace}/role` : 'clusterrole'}`;
  await made(api, `${at('a')}bindings`, binding('lead', ref('cluster-admin'), [subject('User', 'lead')]));
  await made(api, `${at('b')}bindings`, binding('ann', ref('view'), [subject('User', 'ann')]));
  await made(api, `${at('a', 'open')}bindings`, binding('dev', ref('edit'), [subject('User', 'dev')]));
  await made(
    api,
    `${at('a', 'open')}bindings`,
    binding('viewers', ref('view'), [subject('Group', 'viewers')]),
  );
  await made(api, `${at('a', 'open')}bindings`, binding('account', ref('admin'), account));
  await made(api, `${at('a', 'hidden')}s`, { metadata: { name: 'own' }, rules: own });
  await made(
    api,
    `${at('a', 'hidden')}bindings`,
    binding('own', ref('own', 'Role'), [subject('User', 'own')]),
  );
  await made(api, `${at('root')}s`, { metadata: { name: 'statistics' }, rules: statistics });
  await made(
    api,
    `${at('root')}bindings`,
    binding('statistics', ref('statistics'), [subject('User', 'ann')]),
  );
}
