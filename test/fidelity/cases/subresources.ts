import { type Case, type Names, type Request, type Step, set } from '../case.ts';
import { type Fixture, fixtureOf, fixtures } from '../fixtures.ts';
import { accepts } from './reading.ts';

const merge = 'application/merge-patch+json';

export function subresourcesCases(): Case[] {
  const status = fixtures.filter(({ info }) => info.subresources.some(({ name }) => name === 'status'));
  const scale = fixtures.filter(({ info }) => info.subresources.some(({ name }) => name === 'scale'));
  return [...status.map(statusCase), ...scale.map(scaleCase), ...pods(), ...others()];
}

function caseOf(id: string, steps: (names: Names) => Step[]): Case {
  return { id: `subresources/${id}`, area: 'subresources', ownNamespace: true, steps };
}

function idOf({ info }: Fixture): string {
  return `${info.group || 'core'}.${info.version}.${info.resource}`;
}

function patch(path: string, body: object | string, contentType = merge): Request {
  return { method: 'PATCH', path, contentType, body };
}

function statusCase(fixture: Fixture): Case {
  return caseOf(`status/${idOf(fixture)}`, (names) => {
    const body = fixture.object(names);
    const object = `${fixture.path(names)}/${body.metadata.name}`;
    const condition = {
      type: 'Tested',
      status: 'True',
      reason: 'Because',
      message: 'so',
      lastTransitionTime: '2024-01-02T03:04:05Z',
    };
    const put =
      (path: string, change: (o: Editable) => void): Step =>
      (seen) => {
        const copy = structuredClone((seen[0]?.json ?? {}) as unknown as Editable);
        delete copy.metadata['resourceVersion'];
        change(copy);
        return { method: 'PUT', path, body: copy };
      };
    return [
      { method: 'POST', path: fixture.path(names), body, silent: true },
      { method: 'GET', path: `${object}/status` },
      { method: 'GET', path: `${object}/status`, accept: accepts.table },
      patch(`${object}/status`, { status: { conditions: [condition] } }),
      patch(`${object}/status`, {
        metadata: { labels: { s: 't' }, annotations: { s: 't' }, finalizers: ['example.com/a'] },
        spec: { unknown: 1 },
      }),
      patch(`${object}/status`, { status: { replicas: 2, observedGeneration: 5, phase: 'Odd', unknown: 1 } }),
      patch(`${object}/status?fieldValidation=Strict`, { status: { unknown: 1 } }),
      patch(
        `${object}/status`,
        { status: { conditions: [{ ...condition, message: 'again' }] } },
        'application/strategic-merge-patch+json',
      ),
      put(`${object}/status`, (o) => set(o, 'status', {})),
      put(`${object}/status`, (o) => set(o, 'spec', {})),
      put(`${object}`, (o) => set(o, 'status', { replicas: 9, phase: 'Mine' })),
      {
        method: 'PATCH',
        path: `${object}/status?fieldManager=s`,
        contentType: 'application/apply-patch+yaml',
        body: {
          apiVersion: body.apiVersion,
          kind: body.kind,
          metadata: { name: body.metadata.name },
          status: { conditions: [condition] },
        },
      },
      { method: 'GET', path: object },
      { method: 'POST', path: `${object}/status`, body: {} },
      { method: 'DELETE', path: `${object}/status` },
      { method: 'DELETE', path: `${object}?gracePeriodSeconds=0`, silent: true },
    ];
  });
}

interface Editable {
  metadata: { [field: string]: unknown };
  [field: string]: unknown;
}

function scaleCase(fixture: Fixture): Case {
  return caseOf(`scale/${idOf(fixture)}`, (names) => {
    const object = `${fixture.path(names)}/${names.name}`;
    const scale = `${object}/scale`;
    const body = (spec: object, more: object = {}) => ({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: names.name, namespace: names.ns, ...more },
      spec,
    });
    return [
      { method: 'POST', path: fixture.path(names), body: fixture.object(names), silent: true },
      { method: 'GET', path: scale },
      { method: 'GET', path: scale, accept: accepts.table },
      { method: 'GET', path: scale, accept: accepts.protobuf },
      { method: 'PUT', path: scale, body: body({ replicas: 5 }) },
      { method: 'PUT', path: scale, body: body({ replicas: 5 }) },
      { method: 'PUT', path: scale, body: body({ replicas: -1 }) },
      { method: 'PUT', path: scale, body: body({ replicas: 'x' }) },
      { method: 'PUT', path: scale, body: body({}) },
      { method: 'PUT', path: scale, body: body({ replicas: 1 }, { resourceVersion: '1' }) },
      { method: 'PUT', path: scale, body: body({ replicas: 1 }, { name: 'other' }) },
      { method: 'PUT', path: `${scale}?dryRun=All`, body: body({ replicas: 7 }) },
      patch(scale, { spec: { replicas: 3 } }),
      patch(scale, { spec: { replicas: -3 } }),
      patch(scale, { spec: { unknown: 3 } }),
      patch(`${scale}?fieldValidation=Strict`, { spec: { unknown: 3 } }),
      patch(scale, { spec: { replicas: 2 } }, 'application/strategic-merge-patch+json'),
      patch(
        scale,
        [{ op: 'replace', path: '/spec/replicas', value: 4 }] as object,
        'application/json-patch+json',
      ),
      {
        method: 'PATCH',
        path: `${scale}?fieldManager=s&force=true`,
        contentType: 'application/apply-patch+yaml',
        body: body({ replicas: 6 }),
      },
      { method: 'GET', path: object },
      ...(
        [
          ['t', {}],
          ['t', { replicas: 0 }],
          ['t&force=true', { replicas: 0 }],
          ['u', { replicas: 0 }],
          ['u&force=true', { replicas: 4294967298 }],
          ['t', { replicas: 2 }],
          ['u', { replicas: 'x' }],
          ['u', {}],
        ] as const
      ).flatMap(([manager, spec]): Step[] => [
        {
          method: 'PATCH',
          path: `${scale}?fieldManager=${manager}`,
          contentType: 'application/apply-patch+yaml',
          body: body(spec),
        },
        { method: 'GET', path: object },
      ]),
      patch(scale, { spec: { replicas: 'x' } }, 'application/strategic-merge-patch+json'),
      patch(scale, { spec: { replicas: 4294967299 } }, 'application/strategic-merge-patch+json'),
      patch(scale, { spec: { replicas: 4294967299 } }),
      { method: 'POST', path: scale, body: body({}) },
      { method: 'DELETE', path: scale },
      { method: 'GET', path: `${fixture.path(names)}/none/scale` },
    ];
  });
}

function pods(): Case[] {
  const pod = fixtureOf('pods');
  const base = (names: Names) => `${pod.path(names)}/${names.name}`;
  const made = (names: Names): Step => ({
    method: 'POST',
    path: pod.path(names),
    body: pod.object(names),
    silent: true,
  });
  const eviction = (names: Names, more: object = {}) => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: names.name, namespace: names.ns },
    ...more,
  });
  const binding = (names: Names, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: names.name },
    target: { kind: 'Node', name: 'n1' },
    ...more,
  });
  const post = (path: string, body: object): Step => ({ method: 'POST', path, body });
  return [
    caseOf('pods/eviction', (names) => [
      made(names),
      post(`${base(names)}/eviction?dryRun=All`, eviction(names)),
      post(`${base(names)}/eviction`, { ...eviction(names), apiVersion: 'policy/v1beta1' }),
      post(`${base(names)}/eviction`, eviction(names, { deleteOptions: { preconditions: { uid: 'x' } } })),
      post(`${base(names)}/eviction`, { ...eviction(names), metadata: { name: 'other' } }),
      post(`${base(names)}/eviction`, {}),
      post(`${base(names)}-none/eviction`, eviction(names)),
      { method: 'GET', path: `${base(names)}/eviction` },
      post(`${base(names)}/eviction`, eviction(names)),
      { method: 'GET', path: base(names) },
    ]),
    caseOf('pods/eviction-budget', (names) => {
      const budget = fixtureOf('poddisruptionbudgets', 'policy');
      const guard = budget.object(names);
      (guard as { spec?: object }).spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } };
      return [
        made(names),
        { method: 'POST', path: budget.path(names), body: guard, silent: true },
        patch(`${base(names)}/status`, {
          status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
        }),
        post(`${base(names)}/eviction`, eviction(names)),
        {
          ...patch(`${budget.path(names)}/${names.name}/status`, {
            status: {
              observedGeneration: 1,
              disruptionsAllowed: 1,
              currentHealthy: 2,
              desiredHealthy: 1,
              expectedPods: 2,
            },
          }),
          silent: true,
        },
        post(`${base(names)}/eviction?dryRun=All`, eviction(names)),
      ];
    }),
    caseOf('pods/binding', (names) => [
      made(names),
      post(`${base(names)}/binding?dryRun=All`, binding(names)),
      post(`${base(names)}/binding`, binding(names, { target: { kind: 'Pod', name: 'x' } })),
      post(`${base(names)}/binding`, binding(names, { target: { kind: 'Node', name: '' } })),
      post(`${base(names)}/binding`, binding(names)),
      post(`${base(names)}/binding`, binding(names)),
      post(`/api/v1/namespaces/${names.ns}/bindings`, binding(names)),
      { method: 'GET', path: base(names) },
    ]),
    caseOf('pods/ephemeralcontainers', (names) => [
      made(names),
      { method: 'GET', path: `${base(names)}/ephemeralcontainers` },
      patch(
        `${base(names)}/ephemeralcontainers`,
        { spec: { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] } },
        'application/strategic-merge-patch+json',
      ),
      patch(
        `${base(names)}/ephemeralcontainers`,
        { spec: { ephemeralContainers: [{ name: 'web', image: 'busybox' }] } },
        'application/strategic-merge-patch+json',
      ),
      patch(`${base(names)}/ephemeralcontainers`, { spec: { ephemeralContainers: [] } }),
      patch(`${base(names)}/ephemeralcontainers`, { spec: { containers: [] } }),
      patch(base(names), { spec: { ephemeralContainers: [{ name: 'two', image: 'busybox' }] } }),
      { method: 'GET', path: base(names) },
    ]),
    caseOf('pods/resize', (names) => [
      made(names),
      { method: 'GET', path: `${base(names)}/resize` },
      { method: 'GET', path: `${base(names)}/resize`, accept: accepts.table },
      patch(
        `${base(names)}/resize`,
        { spec: { containers: [{ name: 'web', resources: { requests: { cpu: '300m' } } }] } },
        'application/strategic-merge-patch+json',
      ),
      patch(
        `${base(names)}/resize`,
        { spec: { containers: [{ name: 'web', image: 'other' }] } },
        'application/strategic-merge-patch+json',
      ),
      patch(
        base(names),
        { spec: { containers: [{ name: 'web', resources: { requests: { cpu: '350m' } } }] } },
        'application/strategic-merge-patch+json',
      ),
      { method: 'GET', path: base(names) },
    ]),
    caseOf('pods/connect', (names) => [
      made(names),
      ...[
        'log',
        'log?container=none',
        'log?tailLines=-1',
        'log?follow=x',
        'exec?command=ls',
        'exec',
        'attach',
        'portforward',
        'portforward?ports=80',
        'proxy',
        'proxy/x',
      ].map((path): Step => ({ method: 'GET', path: `${base(names)}/${path}` })),
      ...[
        'tailLines=x',
        'limitBytes=0',
        'sinceSeconds=0',
        'sinceTime=x',
        'stream=Stdout',
        'container=web',
      ].map((query): Step => ({ method: 'GET', path: `${base(names)}/log?${query}` })),
      ...['exec?container=web', 'attach?container=none', 'portforward?ports=x'].map(
        (path): Step => ({ method: 'GET', path: `${base(names)}/${path}` }),
      ),
      { method: 'GET', path: `${pod.path(names)}/a:b:c:d/proxy` },
      { method: 'GET', path: `${pod.path(names)}/https:${names.name}:1/proxy` },
      { method: 'POST', path: `${base(names)}/exec?command=ls` },
      { method: 'GET', path: `${base(names)}-none/log` },
      { method: 'GET', path: `${base(names)}-none/exec?command=ls` },
    ]),
  ];
}

function others(): Case[] {
  const accounts = fixtureOf('serviceaccounts');
  const requests = fixtureOf('certificatesigningrequests', 'certificates.k8s.io');
  const review = (group: string, kind: string, spec: object) => ({ apiVersion: group, kind, spec });
  const authorization = 'authorization.k8s.io/v1';
  return [
    caseOf('serviceaccounts/token', (names) => {
      const path = `${accounts.path(names)}/${names.name}/token`;
      const body = (spec: object) => review('authentication.k8s.io/v1', 'TokenRequest', spec);
      return [
        { method: 'POST', path: accounts.path(names), body: accounts.object(names), silent: true },
        { method: 'POST', path, body: body({}) },
        { method: 'POST', path, body: body({ audiences: ['a'], expirationSeconds: 3600 }) },
        { method: 'POST', path, body: body({ expirationSeconds: 10 }) },
        { method: 'POST', path, body: body({ expirationSeconds: 1e12 }) },
        {
          method: 'POST',
          path,
          body: body({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'none' } }),
        },
        {
          method: 'POST',
          path,
          body: body({ boundObjectRef: { kind: 'Node2', apiVersion: 'v1', name: 'none' } }),
        },
        { method: 'POST', path: path.replace(names.name, 'none'), body: body({}) },
        { method: 'GET', path },
      ];
    }),
    caseOf('certificatesigningrequests/approval', (names) => {
      const object = `${requests.path(names)}/${names.name}`;
      const condition = (type: string) => ({
        status: { conditions: [{ type, status: 'True', reason: 'R', message: 'm' }] },
      });
      return [
        { method: 'POST', path: requests.path(names), body: requests.object(names), silent: true },
        { method: 'GET', path: `${object}/approval` },
        { method: 'GET', path: `${object}/approval`, accept: accepts.table },
        patch(`${object}/approval`, condition('Approved')),
        patch(`${object}/approval`, condition('Denied')),
        patch(`${object}/approval`, { status: { conditions: [] } }),
        patch(`${object}/status`, condition('Failed')),
        patch(`${object}/status`, { status: { certificate: 'eA==' } }),
        { method: 'GET', path: object },
      ];
    }),
    caseOf('namespaces/finalize', (names) => {
      const path = `/api/v1/namespaces/${names.name}`;
      return [
        {
          method: 'POST',
          path: '/api/v1/namespaces',
          body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: names.name } },
        },
        {
          method: 'PUT',
          path: `${path}/finalize`,
          body: {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: names.name },
            spec: { finalizers: ['kubernetes', 'example.com/x'] },
          },
        },
        {
          method: 'PUT',
          path: `${path}/finalize`,
          body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } },
        },
        { method: 'GET', path: `${path}/finalize` },
        { method: 'DELETE', path },
        {
          method: 'POST',
          path: `${path}/secrets`,
          body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'late' } },
        },
        {
          method: 'PUT',
          path: `${path}/finalize`,
          body: {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: names.name },
            spec: { finalizers: [] },
          },
        },
      ];
    }),
    caseOf('namespaces/protected', () =>
      ['default', 'kube-system', 'kube-public', 'kube-node-lease'].map(
        (name): Step => ({ method: 'DELETE', path: `/api/v1/namespaces/${name}?dryRun=All` }),
      ),
    ),
    caseOf('reviews', (names) => {
      const access = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: names.ns } };
      const post = (path: string, body: object): Step => ({ method: 'POST', path, body });
      return [
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          review(authorization, 'SelfSubjectAccessReview', access),
        ),
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          review(authorization, 'SelfSubjectAccessReview', {}),
        ),
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          review(authorization, 'SelfSubjectAccessReview', {
            nonResourceAttributes: { path: '/x', verb: 'get' },
          }),
        ),
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          review(authorization, 'SelfSubjectAccessReview', {
            ...access,
            nonResourceAttributes: { path: '/x', verb: 'get' },
          }),
        ),
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
          review(authorization, 'SelfSubjectRulesReview', { namespace: names.ns }),
        ),
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
          review(authorization, 'SelfSubjectRulesReview', {}),
        ),
        post(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          review(authorization, 'SubjectAccessReview', { ...access, user: 'nobody' }),
        ),
        post(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          review(authorization, 'SubjectAccessReview', access),
        ),
        post(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          review(authorization, 'SubjectAccessReview', {
            ...access,
            user: 'root',
            groups: ['system:masters'],
          }),
        ),
        post(
          `/apis/authorization.k8s.io/v1/namespaces/${names.ns}/localsubjectaccessreviews`,
          review(authorization, 'LocalSubjectAccessReview', { ...access, user: 'nobody' }),
        ),
        post(
          `/apis/authorization.k8s.io/v1/namespaces/other/localsubjectaccessreviews`,
          review(authorization, 'LocalSubjectAccessReview', { ...access, user: 'nobody' }),
        ),
        post(
          '/apis/authentication.k8s.io/v1/tokenreviews',
          review('authentication.k8s.io/v1', 'TokenReview', { token: 'none' }),
        ),
        post(
          '/apis/authentication.k8s.io/v1/tokenreviews',
          review('authentication.k8s.io/v1', 'TokenReview', {}),
        ),
        post(
          '/apis/authentication.k8s.io/v1/selfsubjectreviews',
          review('authentication.k8s.io/v1', 'SelfSubjectReview', {}),
        ),
        { method: 'GET', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews' },
        { method: 'GET', path: '/api/v1/componentstatuses' },
        { method: 'GET', path: '/api/v1/componentstatuses/scheduler' },
        { method: 'GET', path: '/api/v1/componentstatuses/nothing' },
        { method: 'GET', path: '/api/v1/componentstatuses', accept: accepts.table },
        { method: 'GET', path: '/api/v1/componentstatuses', accept: accepts.protobuf },
        { method: 'GET', path: '/api/v1/componentstatuses?labelSelector=a%3Db' },
        { method: 'GET', path: '/api/v1/componentstatuses?fieldSelector=metadata.name%3Detcd-0' },
        { method: 'GET', path: '/api/v1/componentstatuses/etcd-0', accept: accepts.table },
        { method: 'GET', path: '/openid/v1/jwks', accept: 'application/json' },
        { method: 'GET', path: '/openid/v1/jwks', accept: '*/*' },
        { method: 'GET', path: '/.well-known/openid-configuration/' },
        { method: 'POST', path: '/openid/v1/jwks', body: {} },
      ];
    }),
  ];
}
