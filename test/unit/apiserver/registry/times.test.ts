import { expect, test } from 'vitest';
import { keepTimes } from '../../../../apiserver/registry/times.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../../kube/object.ts';

function entry(manager: string, time: string, field = 'f:a'): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: { [field]: {} },
  };
}

function object(managedFields: ManagedFieldsEntry[], more: object = {}): KubeObject {
  const metadata = { name: 'a', uid: 'u', resourceVersion: '5', managedFields };
  return { apiVersion: 'v1', kind: 'Secret', metadata, ...more };
}

const old = object([entry('one', 't1'), entry('two', 't2')], { data: { a: 'b' }, none: null });

test.each([
  ['only a time', object([entry('one', 't1'), entry('two', 't3')], { data: { a: 'b' } }), {}, true],
  ['data', object([entry('one', 't1'), entry('two', 't3')], { data: { a: 'c' } }), {}, false],
  ['fields', object([entry('one', 't1'), entry('two', 't3', 'f:b')], { data: { a: 'b' } }), {}, false],
  ['the order', object([entry('two', 't2'), entry('one', 't3')], { data: { a: 'b' } }), {}, false],
  ['managers', object([entry('one', 't3')], { data: { a: 'b' } }), {}, false],
  [
    'a time, and no revision was named',
    object([entry('one', 't1'), entry('two', 't3')], { data: { a: 'b' } }),
    { resourceVersion: undefined },
    false,
  ],
])('what differs is %s', (_, next, given, kept) => {
  const before = next.metadata.managedFields;
  keepTimes(next, old, { uid: 'u', resourceVersion: '5', ...given } as KubeObject['metadata']);
  expect(next.metadata.managedFields).toEqual(kept ? old.metadata.managedFields : before);
});
