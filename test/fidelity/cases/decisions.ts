import type { Case, Request } from '../case.ts';
import { bind, known, role, rule, silent, user } from './roles.ts';

/** What is asked about everybody: verbs and things that rules name, nearly name, and do not. */
const verbs = ['get', 'list', 'delete', 'escalate'];
const things: readonly object[] = [
  { resource: 'configmaps' },
  { resource: 'configmaps', name: 'one' },
  { resource: 'configmaps', name: 'two' },
  { resource: 'configmaps', subresource: 'status' },
  { resource: 'pods', subresource: 'log', name: 'x' },
  { resource: 'pods', subresource: 'log/x' },
  { group: 'apps', resource: 'deployments', subresource: 'scale' },
  { group: 'apps', resource: 'scale' },
  { group: 'example.com', resource: 'things' },
  { group: 'example.com', resource: '*' },
  { group: '*', resource: '*' },
];
const paths = [
  '/healthz',
  '/metrics',
  '/metrics/',
  '/metrics/a',
  '/logs',
  '/logs/',
  '/logs/a/b',
  '/api',
  '/*',
];

/** The same questions to both servers, about users, groups and accounts with rules of every shape. */
export function decisionsCases(): Case[] {
  return ['user', 'group', 'account', 'nobody'].map((who) => ({
    id: `rbac/decisions/${who}`,
    area: 'rbac',
    ownNamespace: true,
    steps: ({ ns, name }) => {
      const subject = subjectOf(who, ns, name);
      return [
        ...given(ns, name, subject.bound),
        ...verbs.flatMap((verb) =>
          things.flatMap((thing) => [
            review(subject.asked, { resourceAttributes: { verb, namespace: ns, ...thing } }),
            review(subject.asked, { resourceAttributes: { verb, ...thing } }),
          ]),
        ),
        ...paths.map((path) => review(subject.asked, { nonResourceAttributes: { verb: 'get', path } })),
        local(ns, subject.asked, {
          resourceAttributes: { verb: 'get', namespace: ns, resource: 'configmaps' },
        }),
        rules(ns, subject.asked),
      ];
    },
  }));
}

interface Subject {
  bound: object;
  asked: { user: string; groups?: string[] };
}

function subjectOf(who: string, ns: string, name: string): Subject {
  if (who === 'user') return { bound: user(name), asked: { user: name } };
  if (who === 'nobody')
    return { bound: user(`not-${name}`), asked: { user: name, groups: ['system:authenticated'] } };
  if (who === 'group') {
    const bound = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: `of-${name}` };
    return { bound, asked: { user: 'x', groups: ['first', `of-${name}`] } };
  }
  const bound = { kind: 'ServiceAccount', name: 'robot', namespace: ns };
  return { bound, asked: { user: `system:serviceaccount:${ns}:robot` } };
}

function given(ns: string, name: string, subject: object): Request[] {
  const waits = user(`w-${name}`);
  return [
    role(
      ns,
      'narrow',
      rule([''], ['configmaps'], ['get'], { resourceNames: ['one'] }),
      rule([''], ['pods/log'], ['get', 'list']),
      rule(['apps'], ['*/scale'], ['*']),
    ),
    role(
      '',
      `c-${name}`,
      rule(['example.com'], ['*'], ['list']),
      rule(['*'], ['configmaps/status'], ['delete']),
      { nonResourceURLs: ['/metrics', '/logs/*', '/healthz'], verbs: ['get'] },
    ),
    bind(ns, 'narrow', ['Role', 'narrow'], { ...user('other') }, subject, waits),
    bind('', `c-${name}`, ['ClusterRole', `c-${name}`], subject, waits),
  ]
    .map(silent)
    .concat(known(`w-${name}`, '/healthz'), {
      ...known(`w-${name}`, `/api/v1/namespaces/${ns}/configmaps/one`),
      until: 404,
    });
}

function review(asked: object, about: object): Request {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { ...asked, ...about },
  };
  return { method: 'POST', path: '/apis/authorization.k8s.io/v1/subjectaccessreviews', body };
}

function local(ns: string, asked: object, about: object): Request {
  const kind = 'LocalSubjectAccessReview';
  const metadata = { namespace: ns };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, metadata, spec: { ...asked, ...about } };
  return {
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/namespaces/${ns}/localsubjectaccessreviews`,
    body,
  };
}

function rules(ns: string, asked: { user: string; groups?: string[] }): Request {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: ns },
  };
  const headers = {
    'impersonate-user': asked.user,
    ...(asked.groups && { 'impersonate-group': asked.groups }),
  };
  return { method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', body, headers };
}
