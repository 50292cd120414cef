import { expect, test } from 'vitest';
import {
  selectorsInQuery,
  selectorsInReview,
  statusIn,
  subjectAccessReview,
  unreadInReview,
} from '../../../../kube/authorization/review.ts';

const none = { field: [], label: [] };

test.each<[string, object]>([
  ['', none],
  [
    'fieldSelector=spec.nodeName%3Dn1,status.phase!%3DFailed',
    {
      ...none,
      field: [
        { key: 'spec.nodeName', operator: 'In', values: ['n1'] },
        { key: 'status.phase', operator: 'NotIn', values: ['Failed'] },
      ],
    },
  ],
  [
    'labelSelector=a%3Db,c in (d,e),f,!g,h notin (i)',
    {
      ...none,
      label: [
        { key: 'a', operator: 'In', values: ['b'] },
        { key: 'c', operator: 'In', values: ['d', 'e'] },
        { key: 'f', operator: 'Exists' },
        { key: 'g', operator: 'DoesNotExist' },
        { key: 'h', operator: 'NotIn', values: ['i'] },
      ],
    },
  ],
  // What a webhook cannot be told, or nobody can read, leaves nothing out.
  ['labelSelector=a>1', none],
  ['labelSelector=((&fieldSelector=a', none],
])('of a query: %s', (query, selectors) => {
  expect(selectorsInQuery(new URLSearchParams(query))).toEqual(selectors);
});

test.each<[object, object]>([
  [{}, none],
  [
    { labelSelector: { rawSelector: 'a=b' } },
    { ...none, label: [{ key: 'a', operator: 'In', values: ['b'] }] },
  ],
  [
    {
      labelSelector: {
        requirements: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'Is' },
        ],
      },
    },
    { ...none, label: [{ key: 'a', operator: 'Exists' }] },
  ],
  [
    {
      fieldSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['1'] },
          { key: 'b', operator: 'In', values: ['1', '2'] },
          { key: 'c', operator: 'Exists' },
        ],
      },
    },
    { ...none, field: [{ key: 'a', operator: 'In', values: ['1'] }] },
  ],
])('of a review: %j', (attributes, selectors) => {
  expect(selectorsInReview(attributes as Record<string, unknown>)).toEqual(selectors);
});

test('groups have another name in the older version', () => {
  const spec = { user: 'ann', groups: ['dev'] };
  expect(subjectAccessReview('v1', spec)).toMatchObject({
    apiVersion: 'authorization.k8s.io/v1',
    spec: { user: 'ann', groups: ['dev'] },
  });
  expect(subjectAccessReview('v1beta1', spec)).toMatchObject({
    apiVersion: 'authorization.k8s.io/v1beta1',
    spec: { user: 'ann', group: ['dev'] },
  });
});

test.each<[unknown]>([
  [null],
  ['yes'],
  [{ kind: 'Status', apiVersion: 'v1' }],
  [{ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1beta1', status: { allowed: true } }],
])('%j is no answer', (answer) => {
  expect(() => statusIn(answer, 'v1')).toThrow(
    'it answered no SubjectAccessReview of authorization.k8s.io/v1',
  );
});

const ignored = (which: string, how = 'ignored') =>
  `spec.resourceAttributes.${which}Selector ${how} due to parse error`;
const requirement = (operator: string, ...values: string[]) => ({ key: 'a', operator, values });

test.each<[object, string | undefined]>([
  [{}, undefined],
  [{ labelSelector: { rawSelector: 'a>1' }, fieldSelector: { rawSelector: 'a=b' } }, undefined],
  [{ labelSelector: { rawSelector: '!!' } }, ignored('label')],
  [{ labelSelector: { rawSelector: 'a>x' } }, ignored('label')],
  [{ labelSelector: { rawSelector: 'a=x@y' } }, ignored('label')],
  [
    { labelSelector: { rawSelector: '!!' }, fieldSelector: { rawSelector: 'a' } },
    `${ignored('field')}; ${ignored('label')}`,
  ],
  [{ labelSelector: { requirements: [requirement('In', 'b')] } }, undefined],
  [{ labelSelector: { requirements: [requirement('Is')] } }, ignored('label')],
  [{ labelSelector: { requirements: [requirement('In')] } }, ignored('label')],
  [{ labelSelector: { requirements: [requirement('Exists', 'b')] } }, ignored('label')],
  [
    { fieldSelector: { requirements: [requirement('In', 'b'), requirement('Exists')] } },
    ignored('field', 'partially ignored'),
  ],
])('what cannot be read of a review is told: %j', (attributes, told) => {
  expect(unreadInReview(attributes as Record<string, unknown>)).toBe(told);
});
