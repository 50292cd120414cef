import type { Case, Names, Request, Step } from '../case.ts';

const merge = 'application/merge-patch+json';

/** What operators, GitOps tools and plugins send now and then, and scripts by mistake. */
export function toolsCases(): Case[] {
  return [unnamed(), going(), owners(), dryDeletion(), selectors(), oldWays(), printed(), operations()];
}

function post(path: string, body: object): Request {
  return { method: 'POST', path, body };
}

function map(name: string, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } };
}

function maps({ ns }: Names): string {
  return `/api/v1/namespaces/${ns}/configmaps`;
}

/** By a variable that is not set. */
function unnamed(): Case {
  const path = '/api/v1/namespaces//configmaps';
  return {
    id: 'writes/tools/unnamed',
    area: 'writes',
    steps: ({ ns }) => [
      post(path, map('x')),
      post(path, map('x', { namespace: ns })),
      post(path, { apiVersion: 'v1', kind: 'Pod' }),
      post('/api/v1/namespaces//nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' } }),
    ],
  };
}

/** Who writes back what they read, or less, of what is being deleted. */
function going(): Case {
  return {
    id: 'writes/tools/going',
    area: 'writes',
    steps: (names) => {
      const object = `${maps(names)}/${names.name}`;
      const patch = (metadata: object): Step => ({
        method: 'PATCH',
        path: object,
        contentType: merge,
        body: { metadata },
      });
      return [
        post(maps(names), map(names.name, { finalizers: ['example.com/a'] })),
        patch({ deletionGracePeriodSeconds: 9 }),
        { method: 'DELETE', path: object },
        patch({ deletionGracePeriodSeconds: 9 }),
        patch({ finalizers: ['example.com/a', 'example.com/b'] }),
        { method: 'DELETE', path: object },
        patch({ finalizers: null }),
        { method: 'GET', path: object },
      ];
    },
  };
}

function owners(): Case {
  const versions = ['a/b/c', 'v1/v1/', '/v1', 'v1/', '/', 'a/v1'];
  return {
    id: 'writes/tools/owners',
    area: 'writes',
    steps: (names) =>
      versions.map((apiVersion) => {
        const ownerReferences = [{ apiVersion, kind: 'X', name: 'o', uid: 'u' }];
        return post(`${maps(names)}?dryRun=All`, map(names.name, { ownerReferences }));
      }),
  };
}

/** Options in the URL beside options in the body. */
function dryDeletion(): Case {
  return {
    id: 'writes/tools/dry-deletion',
    area: 'writes',
    steps: (names) => {
      const object = `${maps(names)}/${names.name}`;
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
      return [
        post(maps(names), map(names.name)),
        { method: 'DELETE', path: `${object}?dryRun=All`, body: options },
        { method: 'GET', path: object },
        { method: 'DELETE', path: object, silent: true },
      ];
    },
  };
}

/** Of access reviews, that nobody can read, or can in part. */
function selectors(): Case {
  const is = (key: string, operator: string, ...values: string[]) =>
    values.length > 0 ? { key, operator, values } : { key, operator };
  const asked = [
    { labelSelector: { rawSelector: '!!' } },
    { labelSelector: { rawSelector: 'a>1' }, fieldSelector: { rawSelector: 'a' } },
    { labelSelector: { requirements: [is('a', 'In', 'b'), is('c', 'Is')] } },
    { labelSelector: { requirements: [is('a', 'In')] } },
    { labelSelector: { requirements: [is('a', 'Exists', 'b')] } },
    { fieldSelector: { requirements: [is('a', 'In', 'b', 'c')] } },
    { fieldSelector: { requirements: [is('a', 'In', 'b'), is('a', 'Exists')] } },
  ];
  const group = 'authorization.k8s.io';
  return {
    id: 'writes/tools/selectors',
    area: 'writes',
    steps: () =>
      asked.map((more) =>
        post(`/apis/${group}/v1/selfsubjectaccessreviews`, {
          apiVersion: `${group}/v1`,
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { verb: 'list', resource: 'pods', ...more } },
        }),
      ),
  };
}

/** What is warned of, of kinds that charts have still. */
function oldWays(): Case {
  const zone = 'failure-domain.beta.kubernetes.io/zone';
  const backend = { defaultBackend: { service: { name: 'x', port: { number: 1 } } } };
  const annotations = { 'kubernetes.io/ingress.class': 'x' };
  const peers = (end: string) => [{ [end]: [{ ipBlock: { cidr: '10.0.0.1/8', except: ['10.1.0.1/16'] } }] }];
  const spec = { podSelector: {}, ingress: peers('from'), egress: peers('to') };
  const topology = { matchLabels: { [zone]: 'a' }, matchExpressions: [{ key: zone, operator: 'Exists' }] };
  const allowedTopologies = [{ matchLabelExpressions: [{ key: zone, values: ['a'] }] }];
  const networking = 'networking.k8s.io/v1';
  const storage = 'storage.k8s.io/v1';
  return {
    id: 'writes/tools/old-ways',
    area: 'writes',
    steps: ({ ns, name }) => {
      const make = (apiVersion: string, resource: string, kind: string, rest: object, where = ''): Request =>
        post(`/apis/${apiVersion}${where}/${resource}?dryRun=All`, {
          apiVersion,
          kind,
          metadata: { name: `${name}.static.k8s.io`, annotations },
          ...rest,
        });
      const inside = `/namespaces/${ns}`;
      const policy = { spec: { validations: [{ expression: 'true' }] } };
      return [
        make(networking, 'ingresses', 'Ingress', { spec: backend }, inside),
        make(networking, 'ingresses', 'Ingress', { spec: { ...backend, ingressClassName: 'x' } }, inside),
        make(networking, 'networkpolicies', 'NetworkPolicy', { spec }, inside),
        make(storage, 'storageclasses', 'StorageClass', { provisioner: 'p', allowedTopologies }),
        make(
          storage,
          'csistoragecapacities',
          'CSIStorageCapacity',
          { storageClassName: 's', nodeTopology: topology },
          inside,
        ),
        make('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass', {
          handler: 'h',
          scheduling: { nodeSelector: { [zone]: 'a' } },
        }),
        make(
          'admissionregistration.k8s.io/v1',
          'validatingadmissionpolicies',
          'ValidatingAdmissionPolicy',
          policy,
        ),
      ];
    },
  };
}

/** What `kubectl get` prints of an autoscaler by its older version, and of a Pod that waits for its gates. */
function printed(): Case {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const metric = { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1500m' } };
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' };
  const spec = { scaleTargetRef, maxReplicas: 3, metrics: [{ type: 'Pods', pods: metric }] };
  return {
    id: 'writes/tools/printed',
    area: 'writes',
    steps: ({ ns, name }) => {
      const scalers = (version: string) =>
        `/apis/autoscaling/${version}/namespaces/${ns}/horizontalpodautoscalers`;
      const pod = { containers: [{ name: 'c', image: 'c' }], schedulingGates: [{ name: 'example.com/a' }] };
      return [
        post(scalers('v2'), {
          apiVersion: 'autoscaling/v2',
          kind: 'HorizontalPodAutoscaler',
          metadata: { name },
          spec,
        }),
        ...['v1', 'v2'].map((version) => ({ method: 'GET', path: `${scalers(version)}/${name}`, accept })),
        { method: 'DELETE', path: `${scalers('v2')}/${name}`, silent: true },
        post(`/api/v1/namespaces/${ns}/pods?dryRun=All`, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name },
          spec: pod,
        }),
      ];
    },
  };
}

/** A JSON patch that says more than its operations know, as those that are written by hand do. */
function operations(): Case {
  const bodies = [
    '[{"op":"add","path":"/data/a","value":"x","extra":1}]',
    '[{"op":"add","op":"add","path":"/data/a","value":"x","extra":1,"extra":2,"Op":"z"}]',
    '[{"op":"test","path":"/data/a","value":"1"},{"z":1,"op":"add","path":"/zz","value":{"a":1}}]',
    '[{"op":"add","path":"/data/a","value":"x","valu":{"b":1,"b":2}}]',
    '[null]',
    JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' }))),
  ];
  return {
    id: 'writes/tools/operations',
    area: 'writes',
    steps: (names) => {
      const object = `${maps(names)}/${names.name}`;
      return [
        post(maps(names), { ...map(names.name), data: { a: '1' } }),
        ...bodies.flatMap((body) =>
          ['', '&fieldValidation=Strict', '&fieldValidation=Ignore'].map((query) => ({
            method: 'PATCH',
            path: `${object}?dryRun=All${query}`,
            contentType: 'application/json-patch+json',
            body,
          })),
        ),
        { method: 'DELETE', path: object, silent: true },
      ];
    },
  };
}
