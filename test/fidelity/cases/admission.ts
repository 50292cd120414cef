import type { Case, Names, Request, Step } from '../case.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const apiVersion = 'admissionregistration.k8s.io/v1';
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;

/** Of null, of text and of lists: what is not there, and what no overload takes. */
const expressions: Readonly<Record<string, readonly string[]>> = {
  members: [
    'has(object.data.a.b)',
    'has(oldObject.metadata)',
    'has(object.metadata.x.y.z)',
    'oldObject.?metadata.?name.orValue("none") != "none"',
    'object.data.a.?b.orValue("d") != "d"',
    'object.data.a[?"q"].hasValue()',
    'object.data.a["q"] == 1',
    'object.data.a[0] == 1',
    'oldObject.metadata.labels.all(k, k == "x")',
    'object.data.a.all(k, k == "x")',
    'dyn([1])["a"] == 1',
    'dyn([1])[1.5] == 1',
    'has(dyn([1]).a)',
    'object.data.missing == "x"',
    'object.nothing.a == 1',
  ],
  overloads: [
    'object.data > 1',
    'object.data.a > 1',
    'object.data + 1 == 1',
    'object.data.a - 1 == 1',
    '-object.data == 1',
    'dyn(1.5) % dyn(1) == 1',
    'dyn([1]) < dyn([2])',
    'string(object.data) == ""',
    'object.data.split(",") == []',
    'object.data.startsWith("x")',
    'object.data.a.sum() == 1',
    'sets.contains(dyn(1), [1])',
    'object.data.isGreaterThan(quantity("1"))',
    'size(oldObject) == 1',
    '"x" in oldObject',
  ],
  request: [
    'has(request.name) && request.name == ""',
    'request.dryRun != true',
    'has(request.subResource)',
    'has(request.options.fieldManager)',
    'request.userInfo.groups.size() == 0',
    'request.kind.kind == request.resource.resource',
    'namespaceObject.metadata.name != request.namespace',
    'authorizer.requestResource.check("zap").allowed() == false',
    'authorizer.serviceAccount("default", "none").path("/healthz").check("get").reason() == "x"',
  ],
};

const map = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { l: 'v' } },
  data: { a: 'x' },
});
const maps = ({ ns }: Names) => `/api/v1/namespaces/${ns}/configmaps`;

/** Bound to the namespace of the case; the first request that it refuses tells that kube-apiserver has heard of it. */
function bound(names: Names, resources: readonly string[], validations: readonly object[]): Step[] {
  // What is in no namespace no selector of namespaces leaves out: it is other cases'.
  const all = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'] };
  const rule = { ...all, resources, scope: 'Namespaced' };
  const probed = {
    expression: "!has(object.metadata) || object.metadata.name != 'probe'",
    message: 'probed',
  };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': names.ns } };
  const own = (kind: string, spec: object) => ({ apiVersion, kind, metadata: { name: names.name }, spec });
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [probed, ...validations] };
  const binding = {
    policyName: names.name,
    validationActions: ['Deny'],
    matchResources: { namespaceSelector },
  };
  return [
    { method: 'POST', path: policies, body: own('ValidatingAdmissionPolicy', spec) },
    { method: 'POST', path: bindings, body: own('ValidatingAdmissionPolicyBinding', binding) },
    { method: 'POST', path: `${maps(names)}?dryRun=All`, body: map('probe'), until: 422, silent: true },
  ];
}

const removed = ({ name }: Names): Request[] =>
  [bindings, policies].map((path) => ({ method: 'DELETE', path: `${path}/${name}`, silent: true }));

/** What ValidatingAdmissionPolicies see of a request, and what they say. */
export function admissionCases(): Case[] {
  return [...Object.entries(expressions).map(expressionCase), seenCase()];
}

/** Each expression is asked of a ConfigMap of its own. */
function expressionCase([id, list]: [string, readonly string[]]): Case {
  return {
    id: `admission/expressions/${id}`,
    area: 'admission',
    ownNamespace: true,
    steps: (names) => [
      ...bound(
        names,
        ['configmaps'],
        list.map((expression, i) => ({
          expression: `object.metadata.name != 'n${i}' || (${expression})`,
        })),
      ),
      ...list.map(
        (_, i): Step => ({ method: 'POST', path: `${maps(names)}?dryRun=All`, body: map(`n${i}`) }),
      ),
      ...removed(names),
    ],
  };
}

/** Names of what is deleted with its collection, and options of connections. */
function seenCase(): Case {
  const parts = [
    "'name=' + (has(request.name) ? request.name : '-')",
    "' sub=' + (has(request.subResource) ? request.subResource : '-')",
    "' kind=' + request.kind.kind",
    "' metadata=' + string(has(object.metadata))",
    "' old=' + string(has(oldObject.metadata))",
  ];
  return {
    id: 'admission/seen',
    area: 'admission',
    ownNamespace: true,
    steps: (names) => {
      const pods = `/api/v1/namespaces/${names.ns}/pods`;
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } };
      const spec = { containers: [{ name: 'c', image: 'i' }] };
      const expression = "request.operation == 'CREATE' && object.metadata.name == 'p'";
      return [
        { method: 'POST', path: maps(names), body: map('kept'), silent: true },
        { method: 'POST', path: pods, body: { ...pod, spec }, silent: true },
        ...bound(names, ['*/*'], [{ expression, messageExpression: parts.join(' + ') }]),
        { method: 'DELETE', path: maps(names) },
        { method: 'DELETE', path: `${maps(names)}/kept` },
        { method: 'PATCH', path: `${pods}/p/status`, contentType: 'application/merge-patch+json', body: {} },
        ...['exec?command=ls', 'attach', 'portforward', 'proxy/x'].map(
          (path): Step => ({ method: 'GET', path: `${pods}/p/${path}` }),
        ),
        ...removed(names),
      ];
    },
  };
}
