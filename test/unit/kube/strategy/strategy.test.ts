import { describe, expect, it } from 'vitest';
import { applyDefaults } from '../../../../kube/defaults/index.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { strategyFor } from '../../../../kube/strategy/index.ts';
import { infoOf, named, podTemplate } from '../kinds.ts';

function created(object: KubeObject): KubeObject {
  const whole = applyDefaults(structuredClone(object), infoOf(object));
  whole.metadata.uid = 'u-1';
  strategyFor(infoOf(object)).prepareForCreate(whole);
  return whole;
}

function updated(old: KubeObject, change: (object: KubeObject) => void, subresource?: string): KubeObject {
  const next = structuredClone(old);
  change(next);
  strategyFor(infoOf(old)).prepareForUpdate(next, old, subresource);
  return next;
}

const deployment = named('apps/v1', 'Deployment', {
  spec: { selector: { matchLabels: { app: 'tide' } }, template: podTemplate() },
  status: { replicas: 9 },
});

describe('a custom resource', () => {
  const widget = named('example.com/v1', 'Widget', { spec: { a: 1 }, status: { b: 2 } });
  const names = {
    group: 'example.com',
    version: 'v1',
    kind: 'Widget',
    resource: 'widgets',
    namespaced: true,
  };
  const written = (subresources: { name: string }[], change: (object: KubeObject) => void) => {
    const { prepareForCreate, prepareForUpdate } = strategyFor({ ...names, subresources });
    const old = structuredClone(widget);
    prepareForCreate(old);
    const next = structuredClone(old);
    change(next);
    prepareForUpdate(next, old);
    return [old.status, next.status, next.metadata.generation];
  };
  const said = (object: KubeObject) => {
    object.status = { b: 3 };
  };
  const unsaid = (object: KubeObject) => {
    delete object.status;
  };
  const labelled = (object: KubeObject) => {
    object.metadata.labels = { a: 'b' };
  };

  it.each([
    [
      'with a subresource for its status',
      [{ name: 'status' }, { name: 'scale' }],
      said,
      [undefined, undefined, 1],
    ],
    ['without', [{ name: 'scale' }], said, [{ b: 2 }, { b: 3 }, 2]],
    ['without, and none later', [], unsaid, [{ b: 2 }, undefined, 2]],
    ['without, labelled', [], labelled, [{ b: 2 }, { b: 2 }, 1]],
  ])('has its status written with the rest where that is so: %s', (_what, subresources, change, expected) => {
    expect(written(subresources, change)).toEqual(expected);
  });

  it('stays as it is but for its status where that is written, whatever is said of its uid or deletion', () => {
    const { prepareForUpdate } = strategyFor({ ...names, subresources: [{ name: 'status' }] });
    const next = structuredClone(widget);
    const metadata = { uid: 'u-2', deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };
    Object.assign(next, { metadata: { ...next.metadata, ...metadata }, status: { b: 3 } });
    prepareForUpdate(next, widget, 'status');
    expect(next).toEqual({ ...widget, status: { b: 3 } });
  });

  it('may have its status written by either, and that is no other generation', () => {
    const both = { ...names, subresources: [{ name: 'status' }], statusWithRest: true };
    const { prepareForUpdate } = strategyFor(both);
    const old = { ...widget, metadata: { ...widget.metadata, generation: 1 } };
    const left = (change: (object: KubeObject) => void, subresource?: string) => {
      const next = structuredClone(old);
      change(next);
      prepareForUpdate(next, old, subresource);
      return [next.spec, next.status, next.metadata.generation];
    };
    expect(left(said)).toEqual([{ a: 1 }, { b: 3 }, 1]);
    const changed = (object: KubeObject) => {
      object.spec = { a: 2 };
      said(object);
    };
    expect(left(changed)).toEqual([{ a: 2 }, { b: 3 }, 2]);
    expect(left(changed, 'status')).toEqual([{ a: 1 }, { b: 3 }, 1]);
  });
});

describe('create', () => {
  it('drops status and starts generation', () => {
    const whole = created(deployment);
    expect([whole.metadata.generation, whole.status]).toEqual([1, {}]);
  });

  it.each([
    ['a Service', named('v1', 'Service'), { loadBalancer: {} }, undefined],
    ['a Namespace', named('v1', 'Namespace'), { phase: 'Active' }, undefined],
    ['a claim', named('v1', 'PersistentVolumeClaim'), { phase: 'Pending' }, undefined],
    ['a Node', named('v1', 'Node', { status: { phase: 'Running' } }), { phase: 'Running' }, undefined],
  ])('%s', (_what, object, status, generation) => {
    const whole = created(object);
    expect(whole.status).toMatchObject(status);
    expect(whole.metadata.generation).toBe(generation);
  });

  it.each([
    [undefined, 'BestEffort'],
    [{ requests: { cpu: '1' } }, 'Burstable'],
    [{ limits: { cpu: '1', memory: '1Gi' } }, 'Guaranteed'],
  ])('gives a Pod with %o the class %s', (resources, qosClass) => {
    const containers = [{ name: 'web', image: 'tide:1', ...(resources && { resources }) }];
    expect(created(named('v1', 'Pod', { spec: { containers } })).status).toEqual({
      phase: 'Pending',
      qosClass,
    });
  });

  it('generates the selector and the labels of a Job', () => {
    const job = created(named('batch/v1', 'Job', { spec: { template: podTemplate() } }));
    const labels = {
      app: 'tide',
      'batch.kubernetes.io/controller-uid': 'u-1',
      'batch.kubernetes.io/job-name': 'tide',
      'controller-uid': 'u-1',
      'job-name': 'tide',
    };
    expect(job.spec).toMatchObject({
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } },
      template: { metadata: { labels } },
    });
    expect(job.metadata.labels).toEqual(labels);
  });

  it('gives a Job no label that its name cannot be, but those of its pods that it wears by default', () => {
    const job = (template: object) => {
      const whole = named('batch/v1', 'Job', { spec: { template } });
      return created({ ...whole, metadata: { ...whole.metadata, name: 'Tide_' } }).metadata.labels;
    };
    expect(job({ ...podTemplate(), metadata: {} })).toBeUndefined();
    expect(job(podTemplate())).toMatchObject({ app: 'tide', 'job-name': 'Tide_' });
  });

  it('leaves a Job the labels of its own, though they be those of its pods', () => {
    const job = named('batch/v1', 'Job', { spec: { template: podTemplate() } });
    const labels = { app: 'tide' };
    expect(created({ ...job, metadata: { ...job.metadata, labels } }).metadata.labels).toEqual(labels);
  });

  it.each([
    [{}, { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }],
    [
      { clusterIP: 'None' },
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack', clusterIPs: ['None'] },
    ],
  ])('gives a Service %o its families', (spec, expected) => {
    expect(created(named('v1', 'Service', { spec })).spec).toMatchObject(expected);
  });
});

describe('update', () => {
  const old = created(deployment);
  old.status = { replicas: 1 };

  it('bumps generation when the spec changes, and keeps status', () => {
    const next = updated(old, (object) => {
      object.spec = { ...(object.spec as object), replicas: 3 };
      object.status = { replicas: 7 };
    });
    expect([next.metadata.generation, next.status]).toEqual([2, { replicas: 1 }]);
  });

  it('does not when a label does, nor when the client says so', () => {
    const next = updated(old, (object) => {
      object.metadata.labels = { a: 'b' };
      object.metadata.generation = 12;
    });
    expect(next.metadata.generation).toBe(1);
  });

  it('does when an annotation of a Deployment does', () => {
    const next = updated(old, (object) => {
      object.metadata.annotations = { a: 'b' };
    });
    expect(next.metadata.generation).toBe(2);
  });

  it('changes status only on /status', () => {
    const change = (object: KubeObject) => {
      object.spec = {};
      object.metadata.labels = { a: 'b' };
      object.status = { replicas: 7 };
    };
    const next = updated(old, change, 'status');
    expect(next).toEqual({ ...old, status: { replicas: 7 } });
  });

  it('gives a Service back what was allocated, and takes it when the type no longer has it', () => {
    const service = created(named('v1', 'Service', { spec: { type: 'NodePort', ports: [{ port: 80 }] } }));
    const allocated = { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] };
    service.spec = {
      ...(service.spec as object),
      ...allocated,
      ports: [{ protocol: 'TCP', port: 80, nodePort: 30001 }],
    };
    const same = updated(service, (object) => {
      object.spec = { type: 'NodePort', ports: [{ protocol: 'TCP', port: 80 }] };
    });
    expect(same.spec).toMatchObject({ ...allocated, ports: [{ nodePort: 30001 }] });
    const narrowed = updated(service, (object) => {
      object.spec = { ...(object.spec as object), type: 'ClusterIP' };
    });
    expect(narrowed.spec).toMatchObject({ ...allocated, ports: [{ protocol: 'TCP', port: 80 }] });
    expect(JSON.stringify(narrowed.spec)).not.toContain('nodePort');
  });
});

describe('other subresources', () => {
  it('finalize changes what the main endpoint does not', () => {
    const namespace = created(named('v1', 'Namespace'));
    const empty = (object: KubeObject) => {
      object.spec = { finalizers: [] };
    };
    expect(namespace.spec).toEqual({ finalizers: ['kubernetes'] });
    expect(updated(namespace, empty).spec).toEqual({ finalizers: ['kubernetes'] });
    expect(updated(namespace, empty, 'finalize').spec).toEqual({ finalizers: [] });
  });

  it('resize and ephemeralcontainers reach only their part of a Pod', () => {
    const pod = created(named('v1', 'Pod', { spec: { containers: [{ name: 'web', image: 'tide:1' }] } }));
    const change = (object: KubeObject) => {
      const containers = [{ name: 'web', image: 'other', resources: { requests: { cpu: '2' } } }];
      object.spec = { containers, ephemeralContainers: [{ name: 'debug' }] };
      object.metadata.labels = { a: 'b' };
    };
    const resized = updated(pod, change, 'resize');
    expect(resized.spec).toMatchObject({
      containers: [{ image: 'tide:1', resources: { requests: { cpu: '2' } } }],
    });
    expect(resized.spec).not.toHaveProperty('ephemeralContainers');
    const debugged = updated(pod, change, 'ephemeralcontainers');
    expect(debugged.spec).toEqual({ ...(pod.spec as object), ephemeralContainers: [{ name: 'debug' }] });
    expect([resized, debugged].map((object) => [object.metadata.generation, object.metadata.labels])).toEqual(
      [
        [2, undefined],
        [2, undefined],
      ],
    );
  });

  it('approval takes conditions and nothing else', () => {
    const request = created(
      named('certificates.k8s.io/v1', 'CertificateSigningRequest', {
        spec: { signerName: 'a.b/c', request: '' },
      }),
    );
    const next = updated(
      request,
      (object) => {
        object.spec = {};
        object.status = { certificate: 'YQ==', conditions: [{ type: 'Approved', status: 'True' }] };
      },
      'approval',
    );
    expect(next.spec).toEqual(request.spec);
    expect(next.status).toMatchObject({
      conditions: [{ type: 'Approved', lastUpdateTime: expect.any(String) }],
    });
    expect(next.status).not.toHaveProperty('certificate');
    const emptied = updated(next, (object) => void delete object.status, 'approval');
    expect(emptied.status).not.toHaveProperty('conditions');
  });

  const early = '2020-01-01T00:00:00Z';
  it.each([
    ['the same phase, and no time', { phase: 'Bound' }, early],
    ['another phase, and no time', { phase: 'Released' }, expect.not.stringMatching(early)],
    [
      'another phase, and the old time',
      { phase: 'Released', lastPhaseTransitionTime: early },
      expect.not.stringMatching(early),
    ],
    [
      'a time of its own',
      { phase: 'Bound', lastPhaseTransitionTime: '2021-01-01T00:00:00Z' },
      '2021-01-01T00:00:00Z',
    ],
  ])("the time of a PersistentVolume's phase, told %s", (_, status, time) => {
    const volume = { ...created(named('v1', 'PersistentVolume', { spec: {} })) };
    volume.status = { phase: 'Bound', lastPhaseTransitionTime: early };
    const next = updated(volume, (object) => void Object.assign(object, { status }), 'status');
    expect(next.status).toMatchObject({ lastPhaseTransitionTime: time });
  });
});

it.each([
  ['v1', 'Service', true, true],
  ['v1', 'ConfigMap', true, false],
  ['coordination.k8s.io/v1', 'Lease', false, true],
  ['policy/v1', 'PodDisruptionBudget', false, false],
  ['sea.example/v1', 'Tide', false, false],
])(
  '%s %s: update without version %s, create by update %s',
  (apiVersion, kind, unconditional, createOnUpdate) => {
    const strategy = strategyFor(infoOf({ apiVersion, kind }));
    expect([strategy.allowUnconditionalUpdate, strategy.allowCreateOnUpdate]).toEqual([
      unconditional,
      createOnUpdate,
    ]);
  },
);
