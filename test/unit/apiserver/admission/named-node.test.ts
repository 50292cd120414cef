import { expect, it } from 'vitest';
import { bindTo } from '../../../../apiserver/admission/named-node.ts';

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
