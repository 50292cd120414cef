/** An expression, and where and what is wrong with it, as kube-controller-manager 1.36 tells it, in short: `_+_ of (int)` has no overload. */
export type Row = [expression: string, problems: string];

/** Of Deployments. */
export const ofDeployments: Row[] = [
  ["object.spec.replicas > '1'", '1:22: _>_ of (int, string)'],
  ['object.spec.maxRetries < 10', "1:12: undefined field 'maxRetries'"],
  ['object.spec == 1', '1:13: _==_ of (Deployment1.spec, int)'],
  [
    "object.spec.template.spec.containers.all(c, c.resources.limits['cpu'] == '1')",
    "1:56: undefined field 'limits'",
  ],
  ['object.spec.strategy.rollingUpdate.maxSurge == 1', ''],
  ['object.metadata.creationTimestamp > 3', '1:35: _>_ of (timestamp, int)'],
  ['object.metadata.labels.foo == 1', '1:28: _==_ of (string, int)'],
  ["object.metadata.labels['foo'] + 1 == 2", '1:31: _+_ of (string, int)'],
  [
    'object.spec.template.spec.containers[0].ports == 3',
    '1:47: _==_ of (list(Deployment1.spec.template.spec.containers.@idx.ports.@idx), int)',
  ],
  [
    'object.spec.template.spec.containers[0].ports[0] == 3',
    '1:50: _==_ of (Deployment1.spec.template.spec.containers.@idx.ports.@idx, int)',
  ],
  [
    'object.metadata.managedFields[0].fieldsV1 == 1',
    '1:43: _==_ of (Deployment1.metadata.managedFields.@idx.fieldsV1, int)',
  ],
  ['object.metadata.managedFields[0].fieldsV1.a == 1', "1:42: undefined field 'a'"],
  ['request.userInfo.username == object.spec.replicas', '1:27: _==_ of (string, int)'],
  ['request.options.x == 1', ''],
  ['namespaceObject.metadata.name == object.spec.replicas', '1:31: _==_ of (string, int)'],
  ['request.dryRun == oldObject.spec.replicas', '1:16: _==_ of (bool, int)'],
  ['oldObject.spec == object.spec', ''],
  ['oldObject == null', ''],
  ['object.metadata.name == null', '1:22: _==_ of (string, null)'],
  ['has(object.spec.nope)', "1:4: undefined field 'nope'"],
  ['has(object.spec.replicas) && object.kind == 1', '1:42: _==_ of (string, int)'],
  ['object.apiVersion == 1', '1:19: _==_ of (string, int)'],
  ['object.spec.template.spec.containers.exists_one(c, c.image == 1)', '1:60: _==_ of (string, int)'],
  [
    "object.spec.template.spec.containers.map(c, c.ports).join(',') == ''",
    '1:58: join of list(list(Deployment1.spec.template.spec.containers.@idx.ports.@idx)).(string)',
  ],
  ["object.spec.?replicas.orValue('x') == 1", '1:30: orValue of optional_type(int).(string)'],
  ["quantity(object.spec.replicas).isGreaterThan(quantity('1'))", '1:9: quantity of (int)'],
  ['dyn(object.spec.nope) == 1', "1:16: undefined field 'nope'"],
  ['object.spec.replicas == 1.0', '1:22: _==_ of (int, double)'],
  ["string(object.spec) == ''", '1:7: string of (Deployment1.spec)'],
  ["object['spec'].replicas == 1", '1:7: _[_] of (Deployment1, string)'],
  ['type(object) == string', ''],
  ["object.?spec.?replicas == optional.of('a')", '1:24: _==_ of (optional_type(int), optional_type(string))'],
  ['object.metadata.labels.exists(k, k == 1)', '1:36: _==_ of (string, int)'],
  ['object.metadata.labels.all(k, v, v == 1)', '1:36: _==_ of (string, int)'],
  [
    'object.spec.replicas.all(x, x > 1)',
    "1:12: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  ['object.spec.replicas.foo == 1', "1:21: type 'int' does not support field selection"],
  ['object.metadata.name.startsWith(object.spec.replicas)', '1:32: startsWith of string.(int)'],
  ['object.spec.selector.matchLabels == object.metadata.labels', ''],
  ["object.metadata.ownerReferences.map(o, o.controller)[0] == 'x'", '1:57: _==_ of (bool, string)'],
  [
    'object.spec.template.spec.volumes.filter(v, has(v.hostPath.nope)).size() == 0',
    "1:48: undefined field 'nope'",
  ],
  ['object.metadata.name in object.spec.replicas', '1:22: @in of (string, int)'],
  ['-object.metadata.name == 1', '1:1: -_ of (string)'],
  ['!object.spec.replicas', '1:1: !_ of (int)'],
  ['object.spec.replicas ? true : false', '1:22: _?_:_ of (int, bool, bool)'],
  ["object.spec.paused ? object.spec.replicas > 1 : 'x' == object.metadata.name", ''],
  ['object.metadata.name[0] == 1', '1:21: _[_] of (string, int)'],
  ['timestamp(object.metadata.labels) == null', '1:10: timestamp of (map(string, string))'],
  [
    'sets.contains(object.spec.template.spec.containers, [1])',
    '1:14: sets.contains of (list(Deployment1.spec.template.spec.containers.@idx), list(int))',
  ],
  [
    "authorizer.requestResource.check('get').allowed()",
    "1:11: unexpected failed resolution of 'kubernetes.authorization.Authorizer'",
  ],
  [
    "authorizer.group('apps').resource('deployments').check(object.spec.replicas).allowed()",
    '1:55: check of kubernetes.authorization.ResourceCheck.(int)',
  ],
  [
    'authorizer.requestResource.check(object.spec.replicas).allowed()',
    "1:11: unexpected failed resolution of 'kubernetes.authorization.Authorizer'; 1:33: check of !error!.(int)",
  ],
  [
    "authorizer.serviceAccount(object.metadata.namespace, object.spec.replicas).group('').resource('pods').check('get').allowed()",
    '1:26: serviceAccount of kubernetes.authorization.Authorizer.(string, int)',
  ],
];

/** Of the widgets below. */
export const ofWidgets: Row[] = [
  ["object.spec.replicas > '1'", '1:22: _>_ of (int, string)'],
  ['object.spec.maxRetries < 10', "1:12: undefined field 'maxRetries'"],
  ['object.spec.any.x == 1', "1:16: undefined field 'x'"],
  ['object.spec.free.x == 1', "1:12: undefined field 'free'"],
  ['object.spec.port == 1', ''],
  ['object.spec.when > 1', '1:18: _>_ of (timestamp, int)'],
  ['object.spec.took > 1', '1:18: _>_ of (duration, int)'],
  ['object.spec.raw == 1', '1:17: _==_ of (bytes, int)'],
  ['object.spec.embedded.metadata.name == 1', '1:36: _==_ of (string, int)'],
  ['object.spec.embedded.metadata.labels == 1', '1:38: _==_ of (map(string, string), int)'],
  ['object.spec.embedded.spec == 1', "1:21: undefined field 'spec'"],
  ['object.metadata.labels == 1', '1:24: _==_ of (map(string, string), int)'],
  ['object.spec.list[0].name == 1', '1:26: _==_ of (string, int)'],
  ["object.spec.map['a'].name == 1", '1:27: _==_ of (string, int)'],
  ['object.spec.__namespace__ == 1', '1:27: _==_ of (string, int)'],
  ['object.spec.for == 1', '1:17: _==_ of (string, int)'],
  ['object.spec.my__dash__name == 1', '1:28: _==_ of (string, int)'],
  ['object.status.ok == 1', '1:18: _==_ of (bool, int)'],
];

/** With these variables. */
export const variables: { name: string; expression: string }[] = [
  { name: 'replicas', expression: 'object.spec.replicas' },
  { name: 'spec', expression: 'object.spec' },
  { name: 'bad', expression: 'object.spec.nope' },
  { name: 'chain', expression: 'variables.replicas + 1' },
  { name: 'ports', expression: 'object.spec.template.spec.containers.map(c, c.name)' },
  { name: 'map', expression: 'object.metadata.labels' },
];
export const withVariables: Row[] = [
  ["variables.replicas > '1'", '1:20: _>_ of (int, string)'],
  ['variables.spec.nope == 1', ''],
  ["variables.bad > '1'", ''],
  ['variables.chain == object.spec', '1:17: _==_ of (int, Deployment1.spec)'],
  ['variables.ports.all(p, p > 1)', '1:26: _>_ of (string, int)'],
  ["variables.map['a'] > 1", '1:20: _>_ of (string, int)'],
];

/** Of Deployments, with a ConfigMap as `params`. */
export const withParams: Row[] = [
  ['object.spec.replicas > params.data.max', '1:22: _>_ of (int, string)'],
  ['object.spec.replicas > int(params.data.max)', ''],
  ['params.spec == 1', "1:7: undefined field 'spec'"],
];

/** With params of a kind that is not there. */
export const withUnknownParams: Row[] = [
  ['object.spec.replicas > params.data.max', ''],
  ["params.spec + object.spec.replicas > '1'", '1:36: _>_ of (int, string)'],
];

const text = { type: 'string' };
const open = { 'x-kubernetes-preserve-unknown-fields': true };
const named = { type: 'object', properties: { name: text } };

export const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        any: { type: 'object', ...open },
        free: open,
        port: { 'x-kubernetes-int-or-string': true },
        when: { type: 'string', format: 'date-time' },
        took: { type: 'string', format: 'duration' },
        raw: { type: 'string', format: 'byte' },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, ...open },
        list: { type: 'array', items: named },
        map: { type: 'object', additionalProperties: named },
        namespace: text,
        for: text,
        'my-name': text,
      },
    },
    status: { type: 'object', properties: { ok: { type: 'boolean' } } },
  },
};
