import { describe, expect, it } from 'vitest';
import { placedKind } from '../../../cluster/kinds.ts';
import type { KindRule } from '../../../cluster/placed-resource.ts';
import { podCount, podTemplate } from '../../../cluster/pod-spec.ts';
import { asRuled, kindOf, originOf, ruledReferences, slicesOf } from '../../../cluster/ruled.ts';
import { shapeRuled } from '../../../cluster/ruled-shape.ts';
import type { ObjectRef } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'c:1' }] },
};
/** Called as a kind that the code knows, in a group of its own. */
const set = (spec: object): KubeObject => ({
  apiVersion: 'fleet.example.com/v1beta1',
  kind: 'StatefulSet',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', labels: { app: 'web' }, finalizers: ['f'] },
  spec,
  status: { replicas: 1 },
});
const ref = (rule: KindRule): ObjectRef => ({
  group: 'fleet.example.com',
  version: 'v1',
  resource: 'statefulsets',
  kind: 'StatefulSet',
  name: 'web',
  uid: 'u',
  rule,
});

describe('asRuled', () => {
  it('has replicas and template where a Deployment has them, and nothing that could be taken for what it is not', () => {
    const object = set({
      size: 3,
      run: { template },
      ordinals: { start: 4 },
      strategy: { type: 'Recreate' },
    });
    const shown = asRuled(object, { specReplicasPath: '.spec.size', templatePath: '.spec.run.template' });
    expect(shown).toMatchObject({ kind: 'Counted', metadata: object.metadata, status: object.status });
    expect(shown.spec).toEqual({ replicas: 3, template });
    expect([podCount(shown), podTemplate(shown).labels]).toEqual([3, { app: 'web' }]);
    expect([kindOf(shown), originOf(shown)?.object]).toEqual(['StatefulSet', object]);
    expect(JSON.parse(JSON.stringify(shown))).not.toHaveProperty('size');
    expect(originOf({ ...shown, metadata: {} })?.object).toBe(object);
  });

  it('without replicas is had in full, and stops first where its rule says so', () => {
    const shown = asRuled(set({ template }), { strategy: 'Recreate' });
    expect(shown).toMatchObject({ kind: 'Full', spec: { template, strategy: { type: 'Recreate' } } });
  });
});

it('a reference names its kind by its rule, unless the code knows it', () => {
  expect(placedKind(ref({}))).toMatchObject({
    kind: 'Full',
    role: 'workload',
    spread: 'whole',
    version: 'v1',
  });
  expect(placedKind(ref({ specReplicasPath: '.spec.size' }))).toMatchObject({
    kind: 'Counted',
    spread: 'counts',
  });
  expect(placedKind({ group: 'fleet.example.com', resource: 'statefulsets' })).toBeUndefined();
  expect(placedKind({ ...ref({}), group: 'apps' })).toMatchObject({ kind: 'StatefulSet', spread: 'ranges' });
});

it('references are looked for through lists; what is no name is none', () => {
  const rule = { references: [{ resource: 'services', path: '.spec.steps.service' }] };
  const object = set({ steps: [{ service: 'a' }, {}, { service: '' }, { service: 7 }, { service: ['b'] }] });
  expect(ruledReferences(asRuled(object, rule)).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(ruledReferences(object)).toEqual([]);
});

it('the manifest is the user’s object with this cluster’s replicas, in the version of the rule', () => {
  const object = set({ size: 3, run: { template }, more: { kept: [1] } });
  const before = structuredClone(object);
  const rule = { specReplicasPath: '.spec.size', templatePath: '.spec.run.template' };
  const locator = { syncer: 's', cluster: 'root', namespace: 'shop', resource: 'x', name: 'web', uid: 'u' };
  const target = { physicalNamespace: 'there', locator };
  const shaped = shapeRuled(object, ref(rule), { phase: 'Active', replicas: 1 }, target);
  expect(shaped).toMatchObject({
    apiVersion: 'fleet.example.com/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'there' },
    spec: { size: 1, run: { template: { metadata: { labels: { app: 'web' } } } }, more: { kept: [1] } },
  });
  expect(shaped).not.toHaveProperty('status');
  expect(shaped.metadata).not.toHaveProperty('finalizers');
  expect(object).toEqual(before);
});

it('what replicas are counted on by has its usual name', () => {
  const rule = { status: { availableReplicasPath: '.status.pods.ready' } };
  const clusters = {
    a: { present: true, status: { pods: { ready: 2 } } },
    b: { present: true, status: {} },
    c: { present: false },
  };
  expect(slicesOf({ spec: { ref: ref(rule), clusters: [] }, status: { clusters } })).toMatchObject({
    a: { status: { availableReplicas: 2, pods: { ready: 2 } } },
    b: { status: { availableReplicas: 0 } },
    c: { present: false },
  });
  expect(slicesOf({ spec: { ref: ref({}), clusters: [] }, status: { clusters } })).toBe(clusters);
});
