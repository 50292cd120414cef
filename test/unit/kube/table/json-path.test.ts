import { expect, test } from 'vitest';
import { jsonPath } from '../../../../kube/table/json-path.ts';

const object = {
  metadata: { annotations: { 'a.b/c': 'dotted' } },
  spec: { color: 'red', list: [{ a: 1 }, { a: 2 }], names: ['x', 'y', 'z'], none: null },
  status: {
    conditions: [
      { type: 'Other', status: 'False', count: 1, on: false },
      { type: 'Ready', status: 'True', count: 2, on: true, more: 'here' },
    ],
  },
};

test.each([
  ['.spec.color', 'red'],
  ['.spec.list[1].a', 2],
  ['.spec.list[*].a', 1],
  ['.spec.names[-1]', 'z'],
  ['.spec.names[1:]', 'y'],
  ['.spec.names[0:3:2]', 'x'],
  ['.spec.names[2,0]', 'z'],
  ['.spec.names[3]', undefined],
  ['.spec.color[0]', undefined],
  ['.spec.*', 'red'],
  ["['spec','status'].color", 'red'],
  ['$.spec.color', 'red'],
  ['..more', 'here'],
  ['.status.conditions[?(@.type=="Ready")].status', 'True'],
  ['.status.conditions[?(@.type == "Ready")].status', 'True'],
  [".status.conditions[?(@.type!='Ready')].status", 'False'],
  ['.status.conditions[?(@.more)].type', 'Ready'],
  ['.status.conditions[?(@.count>1)].type', 'Ready'],
  ['.status.conditions[?(@.count<=1)].type', 'Other'],
  ['.status.conditions[?(@.on==true)].type', 'Ready'],
  ['.status.conditions[?(@.count>"1")].type', undefined],
  ['.status.conditions[?(@.type==")")].type', undefined],
  ['.spec.color[?(@.a)]', undefined],
  [".metadata.annotations['a.b/c']", 'dotted'],
  [".metadata.annotations['a\\.b/c']", 'dotted'],
  ['.metadata.annotations.a\\.b/c', 'dotted'],
  ['.spec.none', null],
  ['.spec.absent.deep', undefined],
  ['.', undefined],
  ['spec', undefined],
  ['.spec[', undefined],
  ['.spec[x]', undefined],
  ['.spec.list[?(@.a]', undefined],
])('at %s', (path, expected) => {
  expect(jsonPath(path)(object)).toEqual(expected);
});
