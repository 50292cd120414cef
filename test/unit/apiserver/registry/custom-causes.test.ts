import { expect, test } from 'vitest';
import { customCauses } from '../../../../apiserver/registry/kinds/custom-causes.ts';
import type { KubeObject } from '../../../../kube/object.ts';

const text = { type: 'string' };
const anything = { 'x-kubernetes-preserve-unknown-fields': true };
const openapi = {
  type: 'object',
  properties: {
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    any: { type: 'array', items: anything, 'x-kubernetes-list-type': 'set' },
    keyed: {
      type: 'array',
      items: anything,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['z', 'a'],
    },
    whole: { type: 'object', 'x-kubernetes-embedded-resource': true },
  },
};
const thing = (more: object): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'x' },
  ...more,
});

function said(now: object, before?: object): unknown[] {
  const how = { openapi, scale: undefined, subresource: '' };
  return customCauses(thing(now), before && thing(before), how, undefined).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

test('what was stored with something twice in a set may go on so', () => {
  const twice = ['set[1]: Duplicate value: "a"'];
  expect(said({ set: ['a', 'a'] })).toEqual(twice);
  expect(said({ set: ['a', 'a'] }, { set: ['a'] })).toEqual(twice);
  expect(said({ set: ['a', 'a', 'b', 'b'] }, { set: ['a', 'a'] })).toEqual([]);
});

test('metadata inside that cannot be read is shown', () => {
  const whole = { apiVersion: 'v1', kind: 'X', metadata: { name: 5 } };
  expect(said({ whole })).toEqual([
    'whole.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
  ]);
});

test.each<[object, string[]]>([
  [{ set: ['a', 'a', 'a', 'b', 'b'] }, ['set[1]: Duplicate value: "a"', 'set[4]: Duplicate value: "b"']],
  [{ any: [2n ** 62n, 2n ** 62n] }, ['any[1]: Duplicate value: 4611686018427387904']],
  [{ any: [2n ** 62n, 2n ** 62n + 1n] }, []],
  [
    {
      any: [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
    },
    ['any[1]: Duplicate value: {"a":1,"b":[2]}'],
  ],
  [
    { keyed: [{ a: 2n ** 62n, v: 1 }, { a: 2n ** 62n }] },
    ['keyed[1]: Duplicate value: {"a":4611686018427387904}'],
  ],
])('what is there twice is told once: %#', (now, told) => expect(said(now)).toEqual(told));
