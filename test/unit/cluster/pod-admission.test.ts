import { expect, test } from 'vitest';
import { keepMarks, withoutMarks } from '../../../cluster/marks.ts';
import {
  admittedAt,
  isHeldBack,
  type PodAdmission,
  podAdmissionOf,
  podRefusal,
  textOfAdmission,
  withPodsGeneration,
  writtenOfPods,
} from '../../../cluster/pod-admission.ts';
import { podReferences, podSpecOf, podTemplate } from '../../../cluster/pod-spec.ts';
import { asRuled } from '../../../cluster/ruled.ts';
import { shapeRuled } from '../../../cluster/ruled-shape.ts';
import { shapeFor } from '../../../cluster/shape.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt } from '../../../kube/untyped.ts';

const name = 'atoll.dev/pod-admission';
const side = { name: 'side', image: 's', envFrom: [{ configMapRef: { name: 'side-config' } }] };
const patch = [{ op: 'add', path: '/spec/containers/-', value: side }];

function workload(said?: PodAdmission | string, kind = 'Deployment'): KubeObject {
  const text = typeof said === 'object' ? textOfAdmission(said) : said;
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'web', generation: 3, annotations: { own: 'x', ...(text && { [name]: text }) } },
    spec: { template: { spec: { containers: [{ name: 'c', image: 'c' }] } } },
  };
}

const cases: [
  what: string,
  said: PodAdmission | undefined,
  pods: string[],
  refused: string | undefined,
  held: boolean,
][] = [
  ['nothing is said', undefined, ['c'], undefined, false],
  ['it was changed', { patch }, ['c', 'side'], undefined, false],
  ['it is refused, and none was before', { refused: 'no' }, ['c'], 'no', true],
  ['it is refused, and another runs', { refused: 'no', patch }, ['c', 'side'], 'no', false],
  ['it is refused in other words', { refused: 'no', times: 2 }, ['c'], 'no', true],
  ['it is refused, and what runs is the same', { refused: 'no', patch: [] }, ['c'], 'no', false],
];

test.each(cases)('%s', (_what, said, pods, refused, held) => {
  const object = workload(said);
  expect(listAt(podSpecOf(object), 'containers').map((one) => at(one, 'name'))).toEqual(pods);
  expect(podTemplate(object).spec).toEqual(podSpecOf(object));
  expect([podRefusal(object), isHeldBack(object)]).toEqual([refused, held]);
  expect(podAdmissionOf(object)).toEqual(said);
});

test('what injected containers name goes along', () => {
  const refs = podReferences(podSpecOf(workload({ patch })));
  expect(refs).toContainEqual({ group: '', resource: 'configmaps', name: 'side-config' });
});

test('the manifest has the admitted template, and not the mark', () => {
  const locator = {
    syncer: 'u',
    cluster: 'c',
    namespace: 'n',
    resource: 'deployments.apps',
    name: 'web',
    uid: 'u',
  };
  const target = { physicalNamespace: 'p', locator };
  const shaped = shapeFor(workload({ patch }), { phase: 'Active' }, target);
  expect(listAt(shaped, 'spec', 'template', 'spec', 'containers')).toContainEqual(side);
  expect(shaped.metadata.annotations).not.toHaveProperty([name]);
  const rule = { templatePath: '.spec.template' };
  const ref = {
    group: 'x.io',
    version: 'v1',
    resource: 'rollouts',
    kind: 'Rollout',
    name: 'web',
    uid: 'u',
    rule,
  };
  const ruled = shapeRuled(workload({ patch }, 'Rollout'), ref as never, { phase: 'Active' }, target);
  expect(listAt(ruled, 'spec', 'template', 'spec', 'containers')).toContainEqual(side);
});

test('the workload itself stays as it is written, and is answered where nothing was changed', () => {
  const object = workload({ patch });
  const admitted = admittedAt(object, ['spec', 'template']);
  expect(admittedAt(object, ['spec', 'template'])).toBe(admitted);
  expect(listAt(object, 'spec', 'template', 'spec', 'containers')).toHaveLength(1);
  const other = workload();
  expect(admittedAt(other, ['spec', 'template'])).toBe(other);
});

test('while it is refused, the template of what runs is known as it was written', () => {
  const path = ['spec', 'template'];
  const image = (said?: PodAdmission) => {
    const spec = at(writtenOfPods(workload(said), path), 'spec');
    return listAt(spec, 'containers').map((one) => at(one, 'image'));
  };
  const former = [{ op: 'replace', path: '/spec/containers/0/image', value: 'before' }];
  expect(image()).toEqual(['c']);
  expect(image({ patch })).toEqual(['c']);
  expect(image({ refused: 'no', patch })).toEqual(['c', 's']);
  expect(image({ refused: 'no', patch, former })).toEqual(['before']);
  expect(writtenOfPods(workload({ refused: 'no' }), path)).toBeUndefined();
});

test('what a rule has led elsewhere from since runs as it ran: the patch is of where its template was', () => {
  const path = ['spec', 'template'];
  const elsewhere = ['spec', 'podTemplate'];
  const rule = { templatePath: '.spec.podTemplate' };
  const former = [{ op: 'replace', path: '/spec/containers/0/image', value: 'former' }];
  const object = workload({ refused: 'no', patch: former, former, path }, 'Rollout');
  const other = { spec: { containers: [{ name: 'other', image: 'other' }] } };
  (object.spec as Record<string, unknown>)['podTemplate'] = other;
  const admitted = admittedAt(object, elsewhere);
  expect(at(admitted, 'spec', 'template', 'spec', 'containers')).toMatchObject([{ image: 'former' }]);
  expect(at(admitted, ...elsewhere)).toEqual(other);
  expect(writtenOfPods(object, elsewhere)).toEqual(other);
  expect(podAdmissionOf(object)?.path).toEqual(path);
  const decided = (templatePath: string) => podTemplate(asRuled(object, { templatePath })).spec;
  expect(decided(rule.templatePath)).toEqual(other.spec);
  expect(decided('.spec.template')).toMatchObject({ containers: [{ image: 'former' }] });
});

test('what is too long is kept without how it was written', () => {
  const former = [{ op: 'add', path: '/a', value: 'x'.repeat(100_000) }];
  const said = { refused: 'no', patch: former };
  expect(textOfAdmission({ ...said, former })).toBe(textOfAdmission(said));
  expect(textOfAdmission({ refused: 'no', patch, former })).toContain('former');
});

test('nothing to say is not said; what is too long cannot be', () => {
  expect(textOfAdmission({})).toBeUndefined();
  expect(textOfAdmission({ patch: [] })).toBeUndefined();
  const value = 'x'.repeat(200_000);
  expect(() => textOfAdmission({ patch: [{ op: 'add', path: '/a', value }] })).toThrow(/longer than/);
});

test('it is a mark of ours: users neither bring nor change nor remove it', () => {
  const mine = { own: 'x', [name]: '{}' };
  expect(withoutMarks(mine)).toEqual({ own: 'x' });
  expect(keepMarks({ own: 'y' }, mine)).toEqual({ own: 'y', [name]: '{}' });
  expect(keepMarks({ own: 'y', [name]: '{"patch":[]}' }, mine)).toEqual({ own: 'y', [name]: '{}' });
});

test('another answer is another generation, once', () => {
  const generation = (next: KubeObject, old: KubeObject) => withPodsGeneration(next, old).metadata.generation;
  expect(generation(workload({ patch }), workload({ refused: 'no' }))).toBe(4);
  expect(generation(workload({ patch }), workload({ patch }))).toBe(3);
  expect(generation(workload({ refused: 'never', times: 1 }), workload({ refused: 'no' }))).toBe(3);
  expect(generation(workload({ refused: 'no' }), workload())).toBe(4);
  const written = workload({ patch });
  written.metadata.generation = 4;
  expect(generation(written, workload())).toBe(4);
});
