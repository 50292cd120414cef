import { beforeEach, expect, test } from 'vitest';
import { withinBorders } from '../../../../apiserver/authz/borders.ts';
import { rbacMode } from '../../../../apiserver/authz/rbac/authorizer.ts';
import { RoleIndex } from '../../../../apiserver/authz/rbac/role-index.ts';
import type { Attributes, Decision } from '../../../../apiserver/plugins.ts';
import type { UserInfo } from '../../../../kube/http.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { RbacResource } from '../../../../kube/rbac/bootstrap.ts';

let index: RoleIndex;
beforeEach(() => {
  index = new RoleIndex();
});

const everybody = ['system:authenticated'];
const ann: UserInfo = { name: 'ann', groups: ['dev', ...everybody] };
const robot: UserInfo = {
  name: 'system:serviceaccount:default:robot',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:default', ...everybody],
  extra: { 'authentication.kcp.io/cluster-name': ['a'] },
};
const masters: UserInfo = { name: 'admin', groups: ['system:masters'] };

function put(resource: RbacResource, at: string, said: object | undefined): void {
  const [cluster = '', namespace = '', name = ''] = at.split('/');
  const object = said && ({ metadata: { name }, ...said } as KubeObject);
  index.put({ resource, cluster, namespace, name }, object);
}

const rules = (...verbs: string[]) => ({ rules: [{ apiGroups: [''], resources: ['pods'], verbs }] });
const bind = (kind: string, name: string, ...subjects: object[]) => ({ roleRef: { kind, name }, subjects });
const user = (name: string) => ({ kind: 'User', name });
const group = (name: string) => ({ kind: 'Group', name });

function ask(who: UserInfo, what: Partial<Attributes> = {}): Decision {
  const pods = { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '' };
  return withinBorders(rbacMode(index).authorize)({
    user: who,
    cluster: 'a',
    namespace: 'default',
    name: 'p',
    ...pods,
    ...what,
  }) as Decision;
}

test('a RoleBinding counts in its namespace of its logical cluster', () => {
  put('roles', 'a/default/reader', rules('get'));
  put('rolebindings', 'a/default/ann', bind('Role', 'reader', user('ann')));
  expect(ask(ann)).toEqual({
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "ann/default" of Role "reader" to User "ann"',
  });
  const elsewhere = [
    { verb: 'list' },
    { namespace: 'kube-system' },
    { namespace: '' },
    { cluster: 'b' },
    { cluster: '*' },
    { cluster: 'root' },
    { subresource: 'log' },
  ];
  for (const what of elsewhere) expect([what, ask(ann, what)]).toEqual([what, { allowed: false }]);
  expect(ask({ ...ann, name: 'bob' })).toEqual({ allowed: false });
});

test('a ClusterRole is bound everywhere, or in a namespace', () => {
  put('clusterroles', 'a//reader', rules('get'));
  put('rolebindings', 'a/default/dev', bind('ClusterRole', 'reader', user('x'), group('dev')));
  expect(ask(ann).reason).toBe(
    'RBAC: allowed by RoleBinding "dev/default" of ClusterRole "reader" to Group "dev"',
  );
  expect(ask(ann, { namespace: 'other' }).allowed).toBe(false);
  put('clusterrolebindings', 'a//dev', bind('ClusterRole', 'reader', group('dev')));
  expect(ask(ann, { namespace: 'other' }).reason).toBe(
    'RBAC: allowed by ClusterRoleBinding "dev" of ClusterRole "reader" to Group "dev"',
  );
});

test('a role that is not there is named', () => {
  put('rolebindings', 'a/default/x', bind('Role', 'gone', user('ann')));
  expect(ask(ann).reason).toBe('RBAC: role.rbac.authorization.k8s.io "gone" not found');
  put('clusterrolebindings', 'a//x', bind('ClusterRole', 'gone', user('ann'), group('dev')));
  expect(ask(ann).reason).toBe(
    'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found]',
  );
});

test('what is taken away counts no more', () => {
  put('clusterroles', 'a//reader', rules('get'));
  put('clusterrolebindings', 'a//x', bind('ClusterRole', 'reader', user('ann')));
  expect(ask(ann).allowed).toBe(true);
  put('clusterrolebindings', 'a//x', bind('ClusterRole', 'reader', user('bob')));
  expect(ask(ann).allowed).toBe(false);
  put('clusterrolebindings', 'a//x', bind('ClusterRole', 'reader', user('ann')));
  put('clusterroles', 'a//reader', rules('list'));
  expect(ask(ann).allowed).toBe(false);
  put('clusterroles', 'a//reader', undefined);
  put('clusterrolebindings', 'a//x', undefined);
  expect([index.names('a', ann), ask(ann)]).toEqual([false, { allowed: false }]);
});

const api = { path: '/api', verb: 'get', resource: '' };

test('nobody is told of a logical cluster in which they are nobody', () => {
  expect(ask(ann, api)).toEqual({ allowed: false });
  expect(ask(ann, { ...api, cluster: 'root' }).allowed).toBe(true);
  put('rolebindings', 'a/default/x', bind('Role', 'gone', group('dev')));
  expect(ask(ann, api).allowed).toBe(true);
  expect(ask(ann, { ...api, path: '/metrics' }).allowed).toBe(false);
});

test('what all have by default makes nobody known, and a default that is deleted counts no more', () => {
  put(
    'clusterrolebindings',
    'a//system:discovery',
    bind('ClusterRole', 'system:discovery', group('system:authenticated')),
  );
  expect(ask(ann, api).allowed).toBe(false);
  expect(ask(robot, api).allowed).toBe(true);
  index.note('a', 'clusterrolebindings', true);
  expect(ask(robot, api).allowed).toBe(true);
  put('clusterrolebindings', 'a//system:discovery', undefined);
  expect(ask(robot, api).allowed).toBe(false);
});

/** What a default binding is edited to, and whether ann is somebody by it. */
test.each<[string, object, boolean]>([
  ['as it is', bind('ClusterRole', 'system:discovery', group('system:authenticated')), false],
  ['with her', bind('ClusterRole', 'system:discovery', group('system:authenticated'), user('ann')), true],
  ['with a group of hers', bind('ClusterRole', 'system:discovery', group('dev')), true],
  ['with nobody', bind('ClusterRole', 'system:discovery'), false],
  ['made again, of another role', bind('ClusterRole', 'view', group('system:authenticated')), true],
])('a default binding %s', (_, edited, known) => {
  for (const written of [false, true]) {
    index.note('a', 'clusterrolebindings', written);
    put('clusterrolebindings', 'a//system:discovery', edited);
    expect([index.names('a', ann), ask(ann, api).allowed && known]).toEqual([known, ask(ann, api).allowed]);
    put('clusterrolebindings', 'a//system:discovery', undefined);
    expect(index.names('a', ann)).toBe(false);
  }
});

test('an object counts as it is stored before all the defaults are', () => {
  put('clusterrolebindings', 'a//system:discovery', bind('ClusterRole', 'system:discovery', user('nobody')));
  put('rolebindings', 'a/default/x', bind('Role', 'gone', group('dev')));
  expect(ask(ann, api).allowed).toBe(false);
});

test('a ServiceAccount is one in its own logical cluster', () => {
  for (const cluster of ['a', 'b', 'root']) {
    put('clusterroles', `${cluster}//reader`, rules('get'));
    const account = { kind: 'ServiceAccount', namespace: 'default', name: 'robot' };
    put('clusterrolebindings', `${cluster}//x`, bind('ClusterRole', 'reader', account));
  }
  expect(ask(robot).reason).toBe(
    'RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "reader" to ServiceAccount "robot/default"',
  );
  for (const cluster of ['b', 'root', '*']) expect(ask(robot, { cluster })).toEqual({ allowed: false });
  put('rolebindings', 'a/default/y', bind('ClusterRole', 'edit', { kind: 'ServiceAccount', name: 'robot' }));
  expect(ask(robot, { verb: 'create' }).allowed).toBe(true);
});

test('whoever was impersonated in a logical cluster is one there, the administrator too', () => {
  const extra = { 'authentication.kcp.io/scopes': ['cluster:a'] };
  expect(ask({ ...masters, extra }).allowed).toBe(true);
  for (const cluster of ['b', 'root', '*'])
    expect(ask({ ...masters, extra }, { cluster })).toEqual({ allowed: false });
  for (const cluster of ['b', 'root', '*']) expect(ask(masters, { cluster })).toEqual({ allowed: true });
});

test('all rules of somebody', () => {
  put('clusterrolebindings', 'a//x', bind('ClusterRole', 'view', user('ann')));
  put('clusterrolebindings', 'a//y', bind('ClusterRole', 'gone', user('ann')));
  const { rules: found, error } = index.rulesFor('a', ann, 'default');
  expect(found.length).toBeGreaterThan(12);
  expect(error).toBe('clusterrole.rbac.authorization.k8s.io "gone" not found');
});
