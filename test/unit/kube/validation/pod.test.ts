import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../../../kube/defaults/index.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { strategyFor } from '../../../../kube/strategy/index.ts';
import { validateCreate, validateUpdate } from '../../../../kube/validation/index.ts';
import { infoOf, named, podTemplate } from '../kinds.ts';

function prepared(object: KubeObject): KubeObject {
  const whole = applyDefaults(structuredClone(object), infoOf(object));
  whole.metadata.uid = 'u-1';
  strategyFor(infoOf(object)).prepareForCreate(whole);
  return whole;
}

const told = (cause: { field?: string; message?: string }) => `${cause.field}: ${cause.message}`;
const causes = (object: KubeObject) => validateCreate(prepared(object), infoOf(object)).map(told);

function changed(object: KubeObject, change: (copy: KubeObject) => void): string[] {
  const old = prepared(object);
  const next = structuredClone(old);
  change(next);
  return validateUpdate(next, old, infoOf(object)).map(told);
}

const pod = (container: object, spec: object = {}, metadata: object = {}) =>
  named('v1', 'Pod', {
    metadata,
    spec: { containers: [{ name: 'web', image: 'tide:1', ...container }], ...spec },
  });
const template = (spec: object) => named('v1', 'PodTemplate', { template: podTemplate(spec) });
const job = (spec: object, pod: object = {}) =>
  named('batch/v1', 'Job', { spec: { template: podTemplate({ restartPolicy: 'Never', ...pod }), ...spec } });
const at = 'spec.containers[0]';

const refused: [string, KubeObject, string[]][] = [
  [
    'ephemeral containers of templates',
    template({ ephemeralContainers: [{ name: 'web', image: 'x:1', ports: [{ containerPort: 1 }] }] }),
    [
      'template.spec.ephemeralContainers[0].name: Duplicate value: "web"',
      'template.spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
      'template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
    ],
  ],
  [
    'limits of a pod below those of its containers',
    pod({ resources: { limits: { memory: '2Gi' } } }, { resources: { limits: { memory: '1Gi' } } }),
    [
      'spec.resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
      'spec.resources.containers[0][memory].limits: Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi',
    ],
  ],
  [
    'devices of a whole pod',
    pod({}, { resources: { limits: { 'ephemeral-storage': '1Gi' } } }),
    [
      'spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
    ],
  ],
  [
    'a part of a huge page',
    pod({ resources: { limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } } }),
    [
      `${at}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
      `${at}.resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
    ],
  ],
  [
    'a profile that is elsewhere',
    pod({ securityContext: { seccompProfile: { type: 'Unconfined', localhostProfile: 'a' } } }),
    [
      `${at}.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"Unconfined","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost`,
    ],
  ],
  [
    'a Windows user',
    pod({ securityContext: { windowsOptions: { runAsUserName: 'a\\b\\c' } } }),
    [
      `${at}.securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash`,
    ],
  ],
  [
    'an annotation that means a number',
    pod({}, {}, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '+1' } }),
    [
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
    ],
  ],
  [
    'a kernel setting of the host',
    pod({}, { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.core.x', value: '1' }] } }),
    [
      `spec.securityContext.sysctls[0].name: Invalid value: "net.core.x": may not be specified when 'hostNetwork' is true`,
    ],
  ],
  [
    'the field of another version',
    pod({
      env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }],
    }),
    [
      `${at}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2`,
    ],
  ],
  [
    'a user beyond all doubles',
    pod({ securityContext: { runAsUser: 9007199254740993n } }),
    [
      `${at}.securityContext.runAsUser: Invalid value: 9007199254740993: must be between 0 and 2147483647, inclusive`,
    ],
  ],
  [
    'who manages a Job',
    job({ managedBy: 'me' }),
    ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    'exit codes of a Job',
    job({
      podFailurePolicy: {
        rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [2, 0, 2], containerName: 'x' } }],
      },
    }),
    [
      'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2',
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered',
    ],
  ],
  [
    'indexes of a Job',
    job({
      completionMode: 'Indexed',
      completions: 5,
      successPolicy: { rules: [{ succeededIndexes: '3,1' }, { succeededIndexes: '0-2', succeededCount: 4 }] },
    }),
    [
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "3,1": error parsing succeededIndexes: non-increasing order, previous: 3, current: 1',
      'spec.successPolicy.rules[1].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)',
    ],
  ],
];

describe('pods and what is made of them', () => {
  it.each(refused)('%s', (_name, object, expected) => {
    expect(causes(object)).toEqual(expected);
  });

  it('shows what changed of a running Pod', () => {
    const found = changed(pod({}), (copy) => {
      (copy.spec as { hostname?: string }).hostname = 'other';
    });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^spec: Forbidden: pod updates may not change fields other than .*\n@@ -/);
    expect(found[0]).toContain('\n- "Hostname": "",\n+ "Hostname": "other",\n');
  });

  it('lets a gated Pod narrow where it may go, and no more', () => {
    const gated = pod({}, { schedulingGates: [{ name: 'g' }], nodeSelector: { a: 'b' } });
    const set = (value: object) =>
      changed(gated, (copy) => {
        (copy.spec as { nodeSelector?: object }).nodeSelector = value;
      });
    expect(set({ a: 'b', c: 'd' })).toEqual([]);
    expect(set({ c: 'd' })).toEqual([
      'spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ]);
  });

  it('tells of a Job twice what is wrong when it is replaced', () => {
    const found = changed(job({}), (copy) => {
      (copy.spec as { parallelism?: number }).parallelism = -1;
    });
    const cause = 'spec.parallelism: Invalid value: -1: must be greater than or equal to 0';
    expect(found).toEqual([cause, cause]);
  });
});
