import { describe, expect, it } from 'vitest';
import { decodeJsonText } from '../../../../kube/json.ts';
import type { JsonObject } from '../../../../kube/object.ts';
import { schemaOf } from '../../../../kube/schema/builtin.ts';
import { prune } from '../../../../kube/schema/prune.ts';
import { strictError } from '../../../../kube/schema/refusal.ts';
import { decodeBuiltin, decodeStruct } from '../../../../kube/schema/strict.ts';

const kinds = {
  Deployment: { group: 'apps', version: 'v1', kind: 'Deployment' },
  StatefulSet: { group: 'apps', version: 'v1', kind: 'StatefulSet' },
  Pod: { group: '', version: 'v1', kind: 'Pod' },
  Secret: { group: '', version: 'v1', kind: 'Secret' },
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap' },
  Lease: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' },
  CustomResourceDefinition: {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
  },
  Role: { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' },
};
const container = (fields: object) => ({ spec: { containers: [fields] } });
const field = (what: string, where: string, type: string) =>
  `json: cannot unmarshal ${what} into Go struct field ${where} of type ${type}`;
const quantity =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const custom = (properties: object) => ({
  spec: { versions: [{ schema: { openAPIV3Schema: { properties } } }] },
});
const below = 'JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties';

/** Answers of a real kube-apiserver 1.36. */
const refused: [keyof typeof kinds, object, string][] = [
  [
    'StatefulSet',
    { spec: { volumeClaimTemplates: [{ apiVersion: {} }] } },
    field('object', 'PersistentVolumeClaim.spec.volumeClaimTemplates.TypeMeta.apiVersion', 'string'),
  ],
  ['Deployment', { spec: { replicas: '3' } }, field('string', 'DeploymentSpec.spec.replicas', 'int32')],
  ['Deployment', { spec: { replicas: 3.5 } }, field('number 3.5', 'DeploymentSpec.spec.replicas', 'int32')],
  [
    'Deployment',
    { spec: { replicas: 3e9 } },
    field('number 3000000000', 'DeploymentSpec.spec.replicas', 'int32'),
  ],
  [
    'CustomResourceDefinition',
    custom({ a: { additionalProperties: 'text' } }),
    'boolean or JSON schema expected',
  ],
  [
    'CustomResourceDefinition',
    custom({ a: { items: { 'x-kubernetes-validations': [{ rule: 1 }] } } }),
    field('number', `${below}.items.x-kubernetes-validations.rule`, 'string'),
  ],
  ['Deployment', { spec: [] }, field('array', 'Deployment.spec', 'v1.DeploymentSpec')],
  [
    'Deployment',
    { spec: { template: { spec: { containers: {} } } } },
    field('object', 'PodSpec.spec.template.spec.containers', '[]v1.Container'),
  ],
  ['Deployment', { metadata: { labels: { a: 1 } } }, field('number', 'ObjectMeta.metadata.labels', 'string')],
  [
    'Deployment',
    { metadata: { labels: [] } },
    field('array', 'ObjectMeta.metadata.labels', 'map[string]string'),
  ],
  [
    'Deployment',
    { metadata: { creationTimestamp: 'x' } },
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
  [
    'Deployment',
    { metadata: { creationTimestamp: 5 } },
    field('number', 'ObjectMeta.metadata.creationTimestamp', 'string'),
  ],
  ['Deployment', { spec: { paused: 'yes' } }, field('string', 'DeploymentSpec.spec.paused', 'bool')],
  [
    'Deployment',
    { spec: { strategy: { rollingUpdate: { maxSurge: true } } } },
    field('bool', 'RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge', 'int32'),
  ],
  ['Pod', container({ name: 1 }), field('number', 'Container.spec.containers.name', 'string')],
  ['Pod', container({ stdin: 1, tty: 'x' }), field('number', 'Container.spec.containers.stdin', 'bool')],
  ['Pod', container({ resources: { limits: { cpu: 'abc' } } }), quantity],
  ['Pod', container({ resources: { limits: { cpu: {} } } }), quantity],
  ['Pod', container({ resources: { limits: { cpu: '--1' } } }), "unable to parse quantity's suffix"],
  [
    'Pod',
    { spec: { volumes: [{ hostPath: 'x' }] } },
    field('string', 'Volume.spec.volumes.VolumeSource.hostPath', 'v1.HostPathVolumeSource'),
  ],
  [
    'Pod',
    container({ livenessProbe: { tcpSocket: { port: 1.5 } } }),
    field('number 1.5', 'TCPSocketAction.spec.containers.livenessProbe.ProbeHandler.tcpSocket.port', 'int32'),
  ],
  [
    'Deployment',
    { spec: { replicas: 1e30 } },
    field('number 1e+30', 'DeploymentSpec.spec.replicas', 'int32'),
  ],
  ['Pod', { spec: { restartPolicy: 1 } }, field('number', 'PodSpec.spec.restartPolicy', 'v1.RestartPolicy')],
  ['Pod', { metadata: { uid: {} } }, field('object', 'ObjectMeta.metadata.uid', 'types.UID')],
  [
    'Pod',
    container({ securityContext: { capabilities: { add: 'x' } } }),
    field('string', 'Capabilities.spec.containers.securityContext.capabilities.add', '[]v1.Capability'),
  ],
  [
    'Pod',
    container({ securityContext: { capabilities: { add: [1] } } }),
    field('number', 'Capabilities.spec.containers.securityContext.capabilities.add', 'v1.Capability'),
  ],
  [
    'Pod',
    container({ resources: { limits: [] } }),
    field('array', 'ResourceRequirements.spec.containers.resources.limits', 'v1.ResourceList'),
  ],
  ['Secret', { data: { a: '!!' } }, 'illegal base64 data at input byte 0'],
  ['Secret', { data: { a: 1 } }, field('number', 'Secret.data', '[]uint8')],
  ['ConfigMap', { data: 'x' }, field('string', 'ConfigMap.data', 'map[string]string')],
  ['ConfigMap', { metadata: 'x' }, field('string', 'ConfigMap.metadata', 'v1.ObjectMeta')],
  [
    'Lease',
    { spec: { renewTime: '2020-01-01' } },
    'parsing time "2020-01-01" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "" as "T"',
  ],
  ['Role', { rules: [{ verbs: 'get' }] }, field('string', 'PolicyRule.rules.verbs', '[]string')],
];

describe('decodeBuiltin', () => {
  it.each(refused)('%s %j', (kind, body, why) => {
    const gvk = kinds[kind];
    const message = `${kind} in version "v1" cannot be handled as a ${kind}: ${why}`;
    expect(() => decodeBuiltin({ kind, ...body } as JsonObject, gvk)).toThrow(
      expect.objectContaining({ message, code: 400, reason: 'BadRequest' }),
    );
  });

  it('drops unknown fields and names them by their path', () => {
    const body = {
      kind: 'Deployment',
      foo: 1,
      spec: {
        Replicas: 1,
        replicas: 2,
        template: { spec: { containers: [{ nme: 1 }, { name: 'a', nme: 1 }] } },
      },
    };
    const { value, unknown } = decodeBuiltin(body, kinds.Deployment);
    expect(value).toEqual({
      kind: 'Deployment',
      spec: { replicas: 2, template: { spec: { containers: [{}, { name: 'a' }] } } },
    });
    expect(unknown).toEqual([
      'unknown field "foo"',
      'unknown field "spec.Replicas"',
      'unknown field "spec.template.spec.containers[0].nme"',
      'unknown field "spec.template.spec.containers[1].nme"',
    ]);
    expect(strictError(kinds.Deployment, unknown.slice(0, 2)).message).toBe(
      'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "foo", unknown field "spec.Replicas"',
    );
  });

  it('drops nulls, and zeroes them inside lists and maps', () => {
    const body = {
      kind: 'ConfigMap',
      data: { a: null, b: 'x' },
      binaryData: null,
      metadata: { finalizers: [null] },
    };
    expect(decodeBuiltin(body, kinds.ConfigMap).value).toEqual({
      kind: 'ConfigMap',
      data: { a: '', b: 'x' },
      metadata: { finalizers: [''] },
    });
  });

  it('takes what Kubernetes takes', () => {
    const body = {
      kind: 'Pod',
      metadata: { creationTimestamp: '2024-01-02T03:04:05.5+01:00', generation: 2 ** 40 },
      ...container({ resources: { limits: { cpu: 2, memory: '1.5Gi', x: '1e3' } } }),
    };
    expect(decodeBuiltin(body as JsonObject, kinds.Pod)).toEqual({ value: body, unknown: [] });
  });

  it('keeps __proto__ an unknown field of structs and a key of maps', () => {
    const body = JSON.parse(
      '{"kind":"ConfigMap","__proto__":{"a":1},"data":{"__proto__":"x"}}',
    ) as JsonObject;
    const { value, unknown } = decodeBuiltin(body, kinds.ConfigMap);
    expect(unknown).toEqual(['unknown field "__proto__"']);
    expect(Object.keys(value['data'] as object)).toEqual(['__proto__']);
  });

  it('refuses schemas that are nested without end', () => {
    let not: JsonObject = {};
    for (let i = 0; i < 9000; i++) not = { not };
    const gvk = { group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' };
    const body = { spec: { versions: [{ schema: { openAPIV3Schema: not } }] } };
    expect(() => decodeBuiltin(body, gvk)).toThrow('exceeded max depth');
  });

  it('reports at most 100 fields', () => {
    const body = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, 1]));
    expect(decodeBuiltin(body, kinds.Pod).unknown).toHaveLength(100);
  });

  it.each([
    ['AAAA', true],
    ['AA==', true],
    ['AAA=', true],
    ['', true],
    ['AA', false],
    ['A===', false],
    ['AAAA=', false],
    ['AA-A', false],
  ])('base64 %j: %s', (a, good) => {
    const decode = () => decodeBuiltin({ data: { a } }, kinds.Secret);
    if (good) expect(decode()).toBeDefined();
    else expect(decode).toThrow('illegal base64');
  });
});

describe('prune', () => {
  it('drops what the schema does not know, keeps what an open one does not know', () => {
    const schema = schemaOf(kinds.ConfigMap);
    if (!schema) throw new Error('no schema');
    expect(prune({ kind: 'ConfigMap', x: 1, data: { a: '1' }, metadata: { y: {} } }, schema)).toEqual({
      value: { kind: 'ConfigMap', data: { a: '1' }, metadata: {} },
      unknown: ['unknown field "metadata.y"', 'unknown field "x"'],
    });
    const open = { type: 'object', fields: new Map(), open: true } as const;
    expect(prune({ a: 1 }, open)).toEqual({ value: { a: 1 }, unknown: [] });
  });
});

describe('numbers as they are written', () => {
  const read = (kind: keyof typeof kinds, text: string) => {
    const { value, literals } = decodeJsonText(text, { strict: true });
    return decodeStruct(value as JsonObject, kinds[kind], literals);
  };
  const replicas = 'DeploymentSpec.spec.replicas';

  it.each(['3.0', '3e0', '0.3e1', '1.00000000000000000001', '1e-3', '9007199254740993', '1e21'])(
    'takes %s for no int32',
    (written) => {
      const { error } = read('Deployment', `{"spec":{"replicas":${written}}}`);
      expect(error).toBe(field(`number ${written}`, replicas, 'int32'));
    },
  );

  it('takes an integer of 64 bits, and a minus before nothing', () => {
    const { error, value } = read(
      'Pod',
      '{"spec":{"terminationGracePeriodSeconds":9007199254740993,"priority":-0}}',
    );
    expect(error).toBeUndefined();
    expect((value as { spec: object }).spec).toEqual({
      terminationGracePeriodSeconds: 9007199254740993n,
      priority: -0,
    });
  });

  it('takes a fraction neither for a port nor for a name of one', () => {
    const text = '{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":80.0}}}]}}';
    expect(read('Pod', text).error).toBe(
      field('number 80.0', 'HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port', 'int32'),
    );
  });

  it.each(['1e3', '1E3', '0.50', '12345678901234567890123', '1.00000000000000000001'])(
    'keeps a quantity %s as it is written',
    (written) => {
      const text = `{"spec":{"containers":[{"resources":{"limits":{"cpu":${written}}}}]}}`;
      const { value, error } = read('Pod', text);
      expect(error).toBeUndefined();
      expect(value).toEqual(container({ resources: { limits: { cpu: written } } }));
    },
  );

  it.each([
    ['"cpu":1.5,"cpu":2', 2],
    ['"cpu":1.5,"cpu":"2"', '2'],
    ['"cpu":2,"cpu":1.50', '1.50'],
  ])('takes of %s the last, as it is written', (written, cpu) => {
    const text = `{"spec":{"containers":[{"resources":{"limits":{${written}}}}]}}`;
    expect(read('Pod', text).value).toEqual(container({ resources: { limits: { cpu } } }));
  });

  it('takes what is no integer where none is asked for', () => {
    const { error } = read('CustomResourceDefinition', JSON.stringify(custom({ a: { maximum: 1.5 } })));
    expect(error).toBeUndefined();
  });
});

describe('of two that are wrong', () => {
  const service = { group: '', version: 'v1', kind: 'Service' };
  const port = (fields: object) => decodeStruct({ spec: { ports: [fields] } } as JsonObject, service).error;

  it("what a type's own decoder says is told, though it comes later", () => {
    const why =
      'json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports.targetPort of type int32';
    expect(port({ port: 1.5, targetPort: 1.5, nodePort: 'x' })).toBe(why);
  });

  it('else the first', () => {
    expect(port({ port: 1.5, nodePort: 'x' })).toContain('ServicePort.spec.ports.port of type int32');
  });
});
