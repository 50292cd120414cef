import { expect, it } from 'vitest';
import { bindTo, namedNodeAdmission, requiredNode } from '../../../../apiserver/admission/named-node.ts';
import type { AdmissionRequest } from '../../../../apiserver/plugins.ts';
import { reflectedAs } from '../../../../cluster/reflected.ts';
import type { KubeObject } from '../../../../kube/object.ts';

const named = { key: 'metadata.name', operator: 'In', values: ['n1'] };
const zone = { key: 'zone', operator: 'In', values: ['a'] };
const other = { key: 'zone', operator: 'In', values: ['b'] };
const requiring = (...terms: object[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
});

it.each([
  ['nothing', {}, { affinity: requiring({ matchFields: [named] }) }],
  [
    'each of the terms, of which one has to hold',
    { affinity: requiring({ matchExpressions: [zone] }, { matchExpressions: [other] }) },
    {
      affinity: requiring(
        { matchExpressions: [zone], matchFields: [named] },
        { matchExpressions: [other], matchFields: [named] },
      ),
    },
  ],
  [
    'what it says already',
    { affinity: requiring({ matchFields: [named] }) },
    { affinity: requiring({ matchFields: [named] }) },
  ],
  [
    'what it prefers, and whom it wants to be beside',
    { affinity: { podAffinity: { a: 1 }, nodeAffinity: { preferred: [1] } } },
    {
      affinity: {
        podAffinity: { a: 1 },
        nodeAffinity: { preferred: [1], ...requiring({ matchFields: [named] }).nodeAffinity },
      },
    },
  ],
])('a node is required beside %s', (_what, spec: Record<string, unknown>, bound) => {
  bindTo(spec, 'n1');
  expect(spec).toEqual(bound);
});

it.each([
  ['none', [], undefined],
  ['what a DaemonSet says', [{ matchFields: [named] }], 'n1'],
  [
    'the same in each term',
    [{ matchFields: [named] }, { matchExpressions: [zone], matchFields: [named] }],
    'n1',
  ],
  [
    'another term, which may hold as well',
    [{ matchFields: [named] }, { matchExpressions: [zone] }],
    undefined,
  ],
  ['two nodes', [{ matchFields: [named] }, { matchFields: [{ ...named, values: ['n2'] }] }], undefined],
  ['all but one', [{ matchFields: [{ ...named, operator: 'NotIn' }] }], undefined],
])('the node that is required by %s', (_what, terms, name) => {
  expect(requiredNode({ affinity: requiring(...terms) })).toBe(name);
});

it.each([
  [
    'a node that is not among those shown',
    { nodeName: 'n9' },
    [{ name: 'n1', of: 'east' }],
    ['spec.nodeName: no node n9 is shown here: it says nothing of where the pod runs'],
  ],
  ['a node where none is shown', { nodeName: 'n9' }, [], []],
  ['a node where those there are somebody made', { nodeName: 'n9' }, [{ name: 'n1', of: '' }], []],
  ['none', {}, [{ name: 'n1', of: 'east' }], []],
])('whoever names %s is told', async (_what, spec, shown, told) => {
  const warnings: string[] = [];
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec };
  await namedNodeAdmission.mutate?.({
    object,
    user: { name: 'ann', groups: [] },
    operation: 'CREATE',
    subresource: '',
    namespace: 'default',
    stored: { info: { group: '', resource: 'pods' } },
    registry: {
      recent: async (asked: { name?: string }) =>
        shown.filter(({ name }) => (asked.name ?? name) === name).map(({ name, of }) => nodeOf(name, of)),
    },
    warn: (text: string) => warnings.push(text),
  } as unknown as AdmissionRequest);
  expect(warnings).toEqual(told);
  expect(object.spec).toEqual(spec);
});

function nodeOf(name: string, cluster: string): KubeObject {
  const annotations = cluster === '' ? {} : reflectedAs({}, 'u1', [cluster]);
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: 'u1', annotations } };
}
