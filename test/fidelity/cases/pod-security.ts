import type { Case, Names, Request, Step } from '../case.ts';
import { core, dry, post, silent } from './quotas.ts';

const prefix = 'pod-security.kubernetes.io/';
const merge = 'application/merge-patch+json';

/** Namespaces that ask something of their pods, and what is written in them. */
export function podSecurityCases(): Case[] {
  return [...judged(), ...labels(), ...later(), ...policies()];
}

function securityCase(id: string, steps: (names: Names) => Step[]): Case {
  return { id: `writes/pod-security/${id}`, area: 'writes', ownNamespace: true, steps };
}

const label = (ns: string, says: Readonly<Record<string, string>>): Request => ({
  method: 'PATCH',
  path: `/api/v1/namespaces/${ns}`,
  contentType: merge,
  body: {
    metadata: {
      labels: Object.fromEntries(Object.entries(says).map(([key, value]) => [`${prefix}${key}`, value])),
    },
  },
});
const account = (ns: string): Request =>
  silent({ ...post(core(ns, 'serviceaccounts'), { metadata: { name: 'robot' } }) });

const container = (securityContext: object, more: object = {}) => ({
  name: 'c',
  image: 'i',
  securityContext,
  ...more,
});
const plain = { containers: [{ name: 'c', image: 'i' }] };
const strict = container({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
const nonRoot = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };

const specs: Readonly<Record<string, object>> = {
  plain,
  strict: { securityContext: nonRoot, containers: [strict] },
  host: { ...plain, hostNetwork: true, hostPID: true },
  privileged: { containers: [container({ privileged: true })] },
  ports: { containers: [container({}, { ports: [{ containerPort: 80, hostPort: 80 }] })] },
  paths: { ...plain, volumes: [{ name: 'v', hostPath: { path: '/' } }] },
  nfs: { ...plain, volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }] },
  capabilities: { containers: [container({ capabilities: { add: ['NET_RAW'] } })] },
  root: { securityContext: { runAsUser: 0, runAsNonRoot: false }, containers: [strict] },
  unconfined: { securityContext: { seccompProfile: { type: 'Unconfined' } }, containers: [strict] },
};

const pod = (ns: string, name: string, spec: object): Request =>
  post(core(ns, 'pods'), {
    metadata: { name },
    spec: { serviceAccountName: 'robot', automountServiceAccountToken: false, ...spec },
  });

const standards: Readonly<Record<string, Record<string, string>>> = {
  baseline: { enforce: 'baseline' },
  restricted: { enforce: 'restricted' },
  old: { enforce: 'restricted', 'enforce-version': 'v1.7' },
  warned: { warn: 'restricted', 'warn-version': 'v1.24' },
  later: { enforce: 'baseline', 'enforce-version': 'v1.99', warn: 'restricted' },
};

function judged(): Case[] {
  return Object.entries(standards).map(([id, says]) =>
    securityCase(id, ({ ns }) => [
      account(ns),
      silent(label(ns, says)),
      ...Object.entries(specs).map(([name, spec]) => dry(pod(ns, name, spec))),
      ...makers(ns).map((one) => dry(one)),
    ]),
  );
}

function makers(ns: string): Request[] {
  const metadata = { labels: { a: 'b' } };
  const template = { metadata, spec: specs['host'] };
  const once = { ...template, spec: { ...specs['host'], restartPolicy: 'Never' } };
  const of = (group: string, resource: string) => `/apis/${group}/v1/namespaces/${ns}/${resource}`;
  const selector = { matchLabels: metadata.labels };
  return [
    post(of('apps', 'deployments'), { metadata: { name: 'w' }, spec: { selector, template } }),
    post(of('apps', 'statefulsets'), {
      metadata: { name: 'w' },
      spec: { serviceName: 's', selector, template },
    }),
    post(of('apps', 'daemonsets'), { metadata: { name: 'w' }, spec: { selector, template } }),
    post(of('batch', 'jobs'), { metadata: { name: 'w', ...metadata }, spec: { template: once } }),
    post(core(ns, 'podtemplates'), { metadata: { name: 'w' }, template }),
  ];
}

function labels(): Case[] {
  return [
    securityCase('labels', ({ ns }) =>
      [
        { enforce: 'strict' },
        { 'enforce-version': 'v2' },
        { audit: 'x', 'warn-version': '1.2' },
        { warn: '' },
        { enforce: 'baseline', 'enforce-version': 'latest' },
        { enforce: 'privileged' },
      ].map((says) => dry(label(ns, says as Record<string, string>))),
    ),
  ];
}

/** A pod that is there when more is asked of it. */
function later(): Case[] {
  return [
    securityCase('existing', ({ ns }) => [
      account(ns),
      silent(pod(ns, 'a', specs['host'] as object)),
      dry(label(ns, { enforce: 'baseline' })),
      dry(label(ns, { enforce: 'restricted', 'enforce-version': 'v1.0' })),
      dry(label(ns, { warn: 'restricted' })),
    ]),
  ];
}

/** What a policy asks the authorizer. */
const asked: Readonly<Record<string, string>> = {
  path: "authorizer.path('/healthz').check('get').allowed()",
  resource: "authorizer.requestResource.check('special').allowed()",
  reason: "authorizer.group('').resource('configmaps').check('create').reason() == ''",
  account: "authorizer.serviceAccount('default', 'nobody').group('').resource('pods').check('get').allowed()",
  empty: "authorizer.path(' ').check('get').allowed()",
  'no-name': "authorizer.serviceAccount('default', 'A').path('/x').check('get').allowed()",
  much: ['a', 'b', 'c'].map((path) => `!authorizer.path('/${path}').check('get').errored()`).join(' && '),
};

function policies(): Case[] {
  const group = '/apis/admissionregistration.k8s.io/v1';
  return Object.entries(asked).map(([id, expression]) =>
    securityCase(`authorizer-${id}`, ({ ns, name }) => {
      const rule = {
        apiGroups: [''],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['configmaps'],
      };
      const resourceRules = [{ ...rule, resourceNames: [name] }];
      const metadata = { name };
      const map = dry(post(core(ns, 'configmaps'), { metadata }));
      return [
        post(`${group}/validatingadmissionpolicies`, {
          metadata,
          spec: { matchConstraints: { resourceRules }, validations: [{ expression: `!(${expression})` }] },
        }),
        silent(
          post(`${group}/validatingadmissionpolicybindings`, {
            metadata,
            spec: { policyName: name, validationActions: ['Deny', 'Warn'] },
          }),
        ),
        // The administrator is asked everything and may do everything: each of these but one is against it.
        ...(id === 'account' || id === 'reason'
          ? []
          : [silent({ ...map, until: ({ status }) => status !== 201 })]),
        map,
      ];
    }),
  );
}
