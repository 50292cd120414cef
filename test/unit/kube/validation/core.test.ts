import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../../../kube/defaults/index.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { strategyFor } from '../../../../kube/strategy/index.ts';
import { validateCreate, validateUpdate } from '../../../../kube/validation/index.ts';
import { infoOf, named } from '../kinds.ts';

function prepared(object: KubeObject): KubeObject {
  const whole = applyDefaults(structuredClone(object), infoOf(object));
  whole.metadata.uid = 'u-1';
  strategyFor(infoOf(object)).prepareForCreate(whole);
  return whole;
}

const told = (cause: { field?: string; message?: string }) => `${cause.field}: ${cause.message}`;
const causes = (object: KubeObject) => validateCreate(prepared(object), infoOf(object)).map(told);

/** What is refused of `spec` in place of the object's. */
function replaced(object: KubeObject, spec: object): string[] {
  const old = prepared(object);
  const next = structuredClone(old);
  next.spec = { ...(next.spec as object), ...spec };
  return validateUpdate(next, old, infoOf(object)).map(told);
}

const node = (spec: object, rest: object = {}) => named('v1', 'Node', { spec, ...rest });
const taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
const quota = (spec: object) => named('v1', 'ResourceQuota', { spec });
const limits = (item: object) => named('v1', 'LimitRange', { spec: { limits: [item] } });
const volume = (spec: object) =>
  named('v1', 'PersistentVolume', {
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
  });
const claim = (spec: object) =>
  named('v1', 'PersistentVolumeClaim', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
const scaler = (spec: object) =>
  named('autoscaling/v2', 'HorizontalPodAutoscaler', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
      ...spec,
    },
  });
const notQuota = 'must be a standard resource for quota';
const notStandard = 'must be a standard resource type or fully qualified';

const refused: [string, KubeObject, string[]][] = [
  [
    'a taint twice',
    node({ taints: [taint, { ...taint, value: 'w' }] }),
    [
      'metadata.taints[1]: Duplicate value: {"Key":"k","Value":"w","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ],
  ],
  [
    'ranges of one family',
    node({ podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] }),
    [
      'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  [
    'features out of order',
    node({}, { status: { declaredFeatures: ['B', 'A'] } }),
    ['status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically'],
  ],
  [
    'what no quota counts',
    quota({ hard: { tides: '1' } }),
    [
      `spec.hard[tides]: Invalid value: "tides": ${notStandard}`,
      `spec.hard[tides]: Invalid value: "tides": ${notQuota}`,
    ],
  ],
  [
    'a scope that has no say',
    quota({ hard: { cpu: '1' }, scopes: ['BestEffort'] }),
    ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
  ],
  [
    'a selector of scopes',
    quota({ scopeSelector: { matchExpressions: [{ scopeName: 'Terminating', operator: 'In' }] } }),
    [
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  ],
  [
    'a ratio that the bounds do not have',
    limits({ type: 'Pod', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '3' } }),
    [
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
    ],
  ],
  [
    'two plugins of one volume',
    volume({ nfs: { server: 's', path: '/p' }, csi: { driver: 'd', volumeHandle: 'h' } }),
    ['spec.csi: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'the attributes of a volume without a driver',
    volume({ hostPath: { path: '/p' }, volumeAttributesClassName: 'c' }),
    ['spec.csi: Required value: has to be specified when using volumeAttributesClassName'],
  ],
  [
    'sources of a claim that do not agree',
    claim({
      dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
    }),
    ['spec: Invalid value: {}: must match dataSourceRef'],
  ],
  [
    'scaling to nothing by nothing',
    scaler({ minReplicas: 0 }),
    [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ],
  ],
  [
    'no policy at all',
    scaler({ behavior: { scaleDown: { policies: [] } } }),
    ['spec.behavior.scaleDown.policies: Required value: must specify at least one Policy'],
  ],
];

describe('kinds of the core', () => {
  it.each(refused)('%s', (_name, object, expected) => {
    expect(causes(object)).toEqual(expected);
  });

  it('names a LimitRange that has no name', () => {
    const nameless = limits({ type: 'Pod' });
    delete nameless.metadata.name;
    expect(prepared(nameless).metadata.name).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('keeps of a claim what a cluster chose, and shows the rest', () => {
    expect(replaced(claim({}), { volumeName: 'v' })).toEqual([]);
    expect(replaced(claim({ volumeName: 'v' }), { volumeName: 'w' })).toEqual([
      expect.stringMatching(
        /^spec: Forbidden: spec is immutable .*\n@@ .*\n- "VolumeName": "v",\n\+ "VolumeName": "w",\n/s,
      ),
    ]);
  });

  it('keeps where a volume is', () => {
    const found = replaced(volume({ nfs: { server: 's', path: '/p' } }), {
      nfs: { server: 't', path: '/p' },
    });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('\n-  "Server": "s",\n+  "Server": "t",\n');
  });

  it.each<[unknown, unknown, boolean]>([
    [undefined, 'a', true],
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', undefined, false],
    ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone', true],
    ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone', false],
  ])('keeps from where a volume is reached, in newer words if need be: from %s to %s', (from, to, may) => {
    const at = (key: unknown) => ({
      nodeAffinity: key && {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] },
      },
    });
    const nfs = { server: 's', path: '/p' };
    const found = replaced(volume({ nfs, ...at(from) }), at(to));
    const rule = 'field is immutable, except for updating from beta label to GA';
    expect(found).toEqual(may ? [] : [expect.stringMatching(`^nodeAffinity: Invalid value: .*: ${rule}$`)]);
  });

  it.each([
    ['{', 'unexpected end of JSON input'],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['{}x', "invalid character 'x' after top-level value"],
  ])('says what is no JSON in %s', (content, why) => {
    const data = { '.dockerconfigjson': Buffer.from(content).toString('base64') };
    const secret = named('v1', 'Secret', { type: 'kubernetes.io/dockerconfigjson', data });
    expect(causes(secret)).toEqual([
      `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": ${why}`,
    ]);
  });

  it('keeps the ranges and the provider of a node', () => {
    const old = node({ podCIDRs: ['10.1.0.0/24'], providerID: 'p' });
    expect(replaced(old, { podCIDRs: ['10.2.0.0/24'], podCIDR: '10.2.0.0/24', providerID: '' })).toEqual([
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]);
  });
});
