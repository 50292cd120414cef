import { withinBorders } from '../../apiserver/authz/borders.ts';
import { rbacMode } from '../../apiserver/authz/rbac/authorizer.ts';
import { RoleIndex } from '../../apiserver/authz/rbac/role-index.ts';
import type { Attributes } from '../../apiserver/plugins.ts';
import type { KubeObject } from '../../kube/object.ts';
import { percentile } from './measure.ts';

const namespaces = 100;
const asked = 200_000;

/** Microseconds that the slowest of a hundred decisions takes, of users with a binding in a namespace or two, and no others. */
export function measureDecisions(bindings: number): number {
  const authorize = withinBorders(rbacMode(indexWith(bindings)).authorize);
  const times: number[] = [];
  for (let i = 0; i < asked; i++) {
    const question = questionOf(i, bindings);
    const began = performance.now();
    void authorize(question);
    times.push((performance.now() - began) * 1000);
  }
  // What runs first is compiled while it runs.
  return percentile(times.slice(asked / 10), 99);
}

function indexWith(bindings: number): RoleIndex {
  const index = new RoleIndex();
  const roleRef = { kind: 'ClusterRole', name: 'edit' };
  for (let i = 0; i < bindings; i++) {
    const namespace = i % 2 === 0 ? `ns-${i % namespaces}` : '';
    const resource = namespace === '' ? 'clusterrolebindings' : 'rolebindings';
    const name = `binding-${i}`;
    const subjects = [{ kind: 'User', name: `user-${i % (bindings / 2)}` }];
    const object = { metadata: { name }, roleRef, subjects } as unknown as KubeObject;
    index.put({ resource, cluster: 'a', namespace, name }, object);
  }
  return index;
}

const verbs = ['get', 'create', 'escalate'];
const resources = ['configmaps', 'deployments', 'nodes'];

function questionOf(i: number, bindings: number): Attributes {
  const user = { name: `user-${i % bindings}`, groups: ['developers', 'system:authenticated'] };
  const what = {
    verb: verbs[i % 3] ?? '',
    resource: resources[i % 7] ?? 'pods',
    group: i % 7 === 1 ? 'apps' : '',
  };
  return {
    user,
    cluster: 'a',
    namespace: `ns-${i % namespaces}`,
    name: 'x',
    version: 'v1',
    subresource: '',
    ...what,
  };
}
