import type { Case, Names, Request, Step } from '../case.ts';

const group = 'rbac.authorization.k8s.io';
const base = `/apis/${group}/v1`;
const apply = 'application/apply-patch+yaml';

export function rolesCases(): Case[] {
  return [...access(), ...granting(), ...binding(), ...aggregating(), ...defaults()];
}

function caseOf(id: string, steps: (names: Names) => Step[]): Case {
  return { id: `rbac/${id}`, area: 'rbac', ownNamespace: true, steps };
}

/** By somebody who has what they are given, and nothing else. */
export function as(name: string, request: Request, ...groups: string[]): Request {
  const headers = {
    'impersonate-user': name,
    ...(groups.length > 0 && { 'impersonate-group': groups }),
  };
  return { ...request, headers };
}

export const rule = (apiGroups: string[], resources: string[], verbs: string[], more = {}) => ({
  apiGroups,
  resources,
  verbs,
  ...more,
});

export function role(ns: string, name: string, ...rules: object[]): Request {
  const kind = ns === '' ? 'ClusterRole' : 'Role';
  const body = { apiVersion: `${group}/v1`, kind, metadata: { name }, rules };
  return { method: 'POST', path: collection(ns, 'roles'), body };
}

export function bind(ns: string, name: string, to: [string, string], ...subjects: object[]): Request {
  const kind = ns === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const roleRef = { apiGroup: group, kind: to[0], name: to[1] };
  const body = { apiVersion: `${group}/v1`, kind, metadata: { name }, roleRef, subjects };
  return { method: 'POST', path: collection(ns, 'rolebindings'), body };
}

function collection(ns: string, resource: string): string {
  return ns === '' ? `${base}/cluster${resource}` : `${base}/namespaces/${ns}/${resource}`;
}

export const user = (name: string) => ({ kind: 'User', apiGroup: group, name });
export const silent = (request: Request): Request => ({ ...request, silent: true });
const get = (path: string): Request => ({ method: 'GET', path });
const dry = (request: Request): Request => ({ ...request, path: `${request.path}?dryRun=All` });

function review(spec: object): Request {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  return {
    method: 'POST',
    path,
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec },
  };
}

/** Until that user may. */
export const known = (who: string, path: string): Request => ({
  ...as(who, get(path)),
  silent: true,
  until: 200,
});

function access(): Case[] {
  return [
    caseOf('developer', ({ ns, name }) => {
      const maps = `/api/v1/namespaces/${ns}/configmaps`;
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
      const by = (request: Request) => as(name, request);
      return [
        silent(role(ns, 'dev', rule([''], ['configmaps'], ['get', 'list', 'watch', 'create']))),
        silent(bind(ns, 'dev', ['Role', 'dev'], user(name))),
        known(name, maps),
        by(get(maps)),
        by({ method: 'POST', path: maps, body: map }),
        by(get(`${maps}/${name}`)),
        by({ method: 'PUT', path: `${maps}/${name}`, body: map }),
        by({ method: 'PATCH', path: `${maps}/${name}`, contentType: apply, body: map }),
        by({ method: 'DELETE', path: `${maps}/${name}` }),
        by({ method: 'DELETE', path: maps }),
        by(get('/api/v1/configmaps')),
        by(get(`/api/v1/namespaces/${ns}/secrets`)),
        by(get(`/api/v1/namespaces/${ns}/pods/x/log`)),
        by(get(`/api/v1/namespaces/${ns}`)),
        by(get(`/api/v1/namespaces/${ns}/pods?watch=1&fieldSelector=metadata.name%3Da`)),
        by({ method: 'POST', path: `/api/v1/namespaces/${ns}/pods/x/eviction`, body: {} }),
        by(get('/apis/example.com/v1/things')),
        by(get('/metrics')),
        by(get('/nothing/here')),
        by(get('/version')),
        by({ method: 'POST', path: '/version' }),
        by(get(`/apis/apps/v1/namespaces/${ns}/deployments/x/scale`)),
      ];
    }),
    caseOf('by-name', ({ ns, name }) => {
      const maps = `/api/v1/namespaces/${ns}/configmaps`;
      const named = { resourceNames: ['one'] };
      return [
        silent({ method: 'POST', path: maps, body: { metadata: { name: 'one' } } }),
        silent(role(ns, 'one', rule([''], ['configmaps'], ['get', 'list', 'update'], named))),
        silent(bind(ns, 'one', ['Role', 'one'], user(name))),
        known(name, `${maps}/one`),
        as(name, get(`${maps}/one`)),
        as(name, get(`${maps}/two`)),
        as(name, get(maps)),
        as(name, get(`${maps}?fieldSelector=metadata.name%3Done`)),
        as(name, { method: 'POST', path: maps, body: { metadata: { name: 'one' } } }),
      ];
    }),
    caseOf('missing-role', ({ ns, name }) => {
      const maps = `/api/v1/namespaces/${ns}/configmaps`;
      const may = (verb: string) =>
        review({ resourceAttributes: { verb, namespace: ns, resource: 'configmaps' } });
      return [
        silent(role(ns, 'some', rule([''], ['configmaps'], ['get']))),
        silent(bind(ns, 'gone', ['Role', 'gone'], user(name))),
        silent(bind(ns, 'some', ['Role', 'some'], user(name))),
        { ...as(name, get(`${maps}/x`)), silent: true, until: 404 },
        as(name, get(`${maps}/x`)),
        as(name, get(maps)),
        as(name, may('get')),
        as(name, may('list')),
        silent(bind(ns, 'gone-too', ['ClusterRole', `gone-${name}`], user(name))),
        as(name, review({ nonResourceAttributes: { path: '/metrics', verb: 'get' } })),
        as(name, review({ nonResourceAttributes: { path: '/api', verb: 'get' } })),
      ];
    }),
    caseOf('impersonation', ({ ns, name }) => [
      as(name, { ...get('/version'), headers: {} }),
      silent(role('', `i-${name}`, rule([''], ['users'], ['impersonate'], { resourceNames: ['someone'] }))),
      silent(bind(ns, 'i', ['ClusterRole', `i-${name}`], user(name))),
      as(name, {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      }),
    ]),
  ];
}

/** Holds get and list of configmaps, and all of RBAC's kinds, in the namespace and in the cluster. */
function grantor(ns: string, name: string, ...more: object[]): Request[] {
  const all = rule(
    [group],
    ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
    ['get', 'list', 'create', 'update', 'patch', 'delete'],
  );
  return [
    silent(role('', `g-${name}`, all, rule([''], ['configmaps'], ['get', 'list']), ...more)),
    silent(bind('', `g-${name}`, ['ClusterRole', `g-${name}`], user(name))),
    known(name, collection(ns, 'roles')),
  ];
}

function granting(): Case[] {
  const held = rule([''], ['configmaps'], ['get']);
  const more = rule([''], ['configmaps', 'secrets'], ['get', 'list', 'delete']);
  const put = (request: Request, name: string, ns: string): Request => ({
    ...request,
    method: 'PUT',
    path: `${collection(ns, 'roles')}/${name}`,
  });
  const applied = (request: Request): Request => ({
    ...request,
    method: 'PATCH',
    path: `${request.path}/applied?fieldManager=m`,
    contentType: apply,
  });
  return [
    caseOf('escalate', ({ ns, name }) => {
      const by = (request: Request) => as(name, request, 'one', 'two');
      const patch = (rules: object[]): Request => ({
        method: 'PATCH',
        path: `${collection(ns, 'roles')}/a`,
        contentType: 'application/merge-patch+json',
        body: { rules },
      });
      return [
        ...grantor(ns, name),
        by(role(ns, 'a', held)),
        by(role(ns, 'b', more)),
        by(dry(role(ns, 'b', more))),
        by(role(ns, 'b', more, rule(['*'], ['*'], ['*']))),
        by(
          role(
            ns,
            'b',
            rule([''], ['pods'], ['get'], { resourceNames: ['x', 'y'] }),
            rule(['', 'apps'], ['pods'], ['get']),
          ),
        ),
        by(put(role(ns, 'a', more), 'a', ns)),
        by(put(role(ns, 'a', held), 'a', ns)),
        by(put(role(ns, 'made', more), 'made', ns)),
        by(patch([more])),
        by(patch([])),
        by(dry(patch([more]))),
        by({ ...patch([]), body: { metadata: { finalizers: ['example.com/a'] } } }),
        by(applied(role(ns, 'applied', more))),
        by(applied(role(ns, 'applied', held))),
        by(role(ns, 'bad', rule([], ['pods'], []))),
        by({ ...role(ns, '', more), body: { metadata: { generateName: 'x' }, rules: [more] } }),
        by(role('', `c-${name}`, held)),
        by(role('', `d-${name}`, { nonResourceURLs: ['/metrics', '/x/*'], verbs: ['get'] })),
        silent({ method: 'DELETE', path: `${collection('', 'roles')}/c-${name}` }),
      ];
    }),
    caseOf('escalate-verb', ({ ns, name }) => {
      const verbs = rule([group], ['roles'], ['escalate']);
      return [
        ...grantor(ns, name, verbs),
        as(name, role(ns, 'b', more)),
        as(name, put(role(ns, 'b', more, rule([''], ['pods'], ['get'])), 'b', ns)),
        as(name, role('', `e-${name}`, more)),
      ];
    }),
    caseOf('garbage', ({ ns, name }) => {
      const owned = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }];
      const patch = (metadata: object): Request => ({
        method: 'PATCH',
        path: `${collection(ns, 'roles')}/wide`,
        contentType: 'application/merge-patch+json',
        body: { metadata },
      });
      return [
        ...grantor(ns, name),
        silent(role(ns, 'wide', more)),
        as(name, patch({ ownerReferences: owned })),
        as(name, patch({ ownerReferences: null, finalizers: ['example.com/a'] })),
        as(name, patch({ labels: { a: 'b' } })),
        as(name, patch({ finalizers: null })),
      ];
    }),
  ];
}

function binding(): Case[] {
  const wide = rule([''], ['configmaps', 'secrets'], ['get', 'delete']);
  return [
    caseOf('bind', ({ ns, name }) => {
      const by = (request: Request) => as(name, request);
      const path = `${collection(ns, 'rolebindings')}/a`;
      const patch = (body: object): Request => ({
        method: 'PATCH',
        path,
        contentType: 'application/merge-patch+json',
        body,
      });
      return [
        ...grantor(ns, name),
        silent(role(ns, 'wide', wide)),
        silent(role(ns, 'narrow', rule([''], ['configmaps'], ['get']))),
        silent(role('', `w-${name}`, wide)),
        by(bind(ns, 'a', ['Role', 'narrow'], user('x'))),
        by(bind(ns, 'b', ['Role', 'wide'], user('x'))),
        by(dry(bind(ns, 'b', ['Role', 'wide'], user('x')))),
        by(bind(ns, 'b', ['ClusterRole', `w-${name}`], user('x'))),
        by(bind('', `b-${name}`, ['ClusterRole', `w-${name}`], user('x'))),
        by(bind('', `b-${name}`, ['ClusterRole', 'cluster-admin'], user(name))),
        by(bind(ns, 'b', ['Role', 'gone'], user('x'))),
        by(bind('', `b-${name}`, ['ClusterRole', `gone-${name}`], user('x'))),
        by(bind(ns, 'b', ['Elsewhere', 'x'], user('x'))),
        by(bind('', `b-${name}`, ['Role', 'narrow'], user('x'))),
        by(patch({ subjects: [user('y')] })),
        by(patch({ roleRef: { name: 'wide' } })),
        patch({ roleRef: { name: 'wide' } }),
        by({ method: 'DELETE', path }),
      ];
    }),
    caseOf('bind-verb', ({ ns, name }) => {
      const verbs = rule([group], ['clusterroles'], ['bind'], { resourceNames: [`w-${name}`] });
      return [
        ...grantor(ns, name, verbs),
        silent(role('', `w-${name}`, wide)),
        silent(role('', `v-${name}`, wide)),
        as(name, bind(ns, 'b', ['ClusterRole', `w-${name}`], user('x'))),
        as(name, bind('', `w-${name}`, ['ClusterRole', `w-${name}`], user('x'))),
        as(name, bind(ns, 'c', ['ClusterRole', `v-${name}`], user('x'))),
      ];
    }),
  ];
}

function aggregating(): Case[] {
  const whole = (name: string) => ({
    apiVersion: `${group}/v1`,
    kind: 'ClusterRole',
    metadata: { name: `whole-${name}` },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`part-${name}`]: 'yes' } }] },
  });
  return [
    caseOf('aggregation-rule', ({ ns, name }) => [
      ...grantor(ns, name),
      as(name, { method: 'POST', path: collection('', 'roles'), body: whole(name) }),
      { method: 'POST', path: collection('', 'roles'), body: whole(name) },
      as(name, {
        method: 'PATCH',
        path: `${collection('', 'roles')}/whole-${name}`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { labels: { a: 'b' } } },
      }),
    ]),
  ];
}

/** None that is aggregated: no controller does that on the other side. */
function defaults(): Case[] {
  const labelled = 'labelSelector=kubernetes.io%2Fbootstrapping%3Drbac-defaults';
  const names = [
    'cluster-admin',
    'system:aggregate-to-edit',
    'system:basic-user',
    'system:discovery',
    'system:node',
  ];
  return [
    caseOf('defaults', () => [
      ...names.map((name) => get(`${collection('', 'roles')}/${name}`)),
      get(`${collection('', 'rolebindings')}?${labelled}`),
      get(`${collection('kube-system', 'roles')}?${labelled}`),
      get(`${collection('kube-system', 'rolebindings')}?${labelled}`),
      get(`${collection('kube-public', 'roles')}?${labelled}`),
      get(`${collection('kube-public', 'rolebindings')}?${labelled}`),
      role('', 'cluster-admin'),
      bind('kube-system', 'system:controller:token-cleaner', ['Role', 'x']),
      dry({ method: 'DELETE', path: `${collection('', 'roles')}/system:monitoring` }),
    ]),
  ];
}
