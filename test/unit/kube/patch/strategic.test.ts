import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../kube/object.ts';
import { applyStrategicMergePatch } from '../../../../kube/patch/strategic.ts';
import { mergeItem } from './merge-item.ts';

const list = (...names: (string | number)[]) => names.map((name) => ({ name }));

describe('applyStrategicMergePatch', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['sets and deletes fields', { name: 'a', value: 'b' }, { name: 'c', value: null }, { name: 'c' }],
    [
      'ignores null for what is absent',
      { name: 'a' },
      { other: null, simpleMap: { x: null, y: '1' } },
      { name: 'a', simpleMap: { y: '1' } },
    ],
    [
      'merges maps',
      { simpleMap: { a: '1', b: '2' } },
      { simpleMap: { b: null, c: '3' } },
      { simpleMap: { a: '1', c: '3' } },
    ],
    [
      '$patch: replace on a map',
      { simpleMap: { a: '1' } },
      { simpleMap: { $patch: 'replace', b: '2' } },
      { simpleMap: { b: '2' } },
    ],
    [
      '$patch: delete on a map',
      { simpleMap: { a: '1' } },
      { simpleMap: { $patch: 'delete' } },
      { simpleMap: {} },
    ],
    ['drops a directive where nothing is', {}, { simpleMap: { $patch: 'delete' } }, {}],
    [
      'merges lists by key',
      { mergingList: [{ name: 'a', value: '1' }, { name: 'b' }] },
      { mergingList: [{ name: 'b', value: '2' }, { name: 'c' }] },
      { mergingList: [{ name: 'a', value: '1' }, { name: 'b', value: '2' }, { name: 'c' }] },
    ],
    [
      '$patch: delete on an element',
      { mergingList: list('a', 'b') },
      { mergingList: [{ $patch: 'delete', name: 'a' }] },
      { mergingList: list('b') },
    ],
    [
      '$patch: replace on a list',
      { mergingList: list('a', 'b') },
      { mergingList: [{ name: 'c' }, { $patch: 'replace' }] },
      { mergingList: list('c') },
    ],
    [
      'replaces lists without a strategy',
      { nonMergingList: list('a') },
      { nonMergingList: list('b') },
      { nonMergingList: list('b') },
    ],
    [
      'unites primitive lists',
      { mergingIntList: [1, 2] },
      { mergingIntList: [2, 3] },
      { mergingIntList: [1, 2, 3] },
    ],
    [
      'replaces primitive lists',
      { nonMergingIntList: [1, 2] },
      { nonMergingIntList: [3] },
      { nonMergingIntList: [3] },
    ],
    [
      '$deleteFromPrimitiveList of objects, which are merged',
      { mergingList: [{ name: 'a', value: '1' }] },
      { '$deleteFromPrimitiveList/mergingList': [{ name: 'a', other: '2' }, { name: 'b' }] },
      { mergingList: [{ name: 'a', value: '1', other: '2' }, { name: 'b' }] },
    ],
    [
      '$deleteFromPrimitiveList',
      { mergingIntList: [1, 2, 3] },
      { '$deleteFromPrimitiveList/mergingIntList': [1, 3] },
      { mergingIntList: [2] },
    ],
    [
      '$setElementOrder of primitives',
      { mergingIntList: [1, 2, 3] },
      { '$setElementOrder/mergingIntList': [3, 1] },
      { mergingIntList: [2, 3, 1] },
    ],
    [
      '$setElementOrder keeps what the server added',
      { mergingList: list('a', 'x', 'b') },
      { '$setElementOrder/mergingList': list('b', 'a', 'c'), mergingList: list('c') },
      { mergingList: list('x', 'b', 'a', 'c') },
    ],
    [
      '$retainKeys',
      { retainKeysMap: { name: 'a', value: 'b' } },
      { retainKeysMap: { $retainKeys: ['name', 'other'], other: 'c' } },
      { retainKeysMap: { name: 'a', other: 'c' } },
    ],
    [
      '$retainKeys inside a merging list',
      { retainKeysMergingList: [{ name: 'a', value: '1' }] },
      { retainKeysMergingList: [{ $retainKeys: ['name', 'other'], name: 'a', other: '2' }] },
      { retainKeysMergingList: [{ name: 'a', other: '2' }] },
    ],
    [
      'replaces a schemaless field',
      { replacingItem: { a: 1 } },
      { replacingItem: { b: 2 } },
      { replacingItem: { b: 2 } },
    ],
    ['replaces what has another type', { simpleMap: { a: '1' } }, { simpleMap: [] }, { simpleMap: [] }],
  ])('%s', (_, current, patch, expected) => {
    const before = JSON.stringify([current, patch]);
    expect(applyStrategicMergePatch(current, patch, mergeItem)).toEqual(expected);
    expect(JSON.stringify([current, patch])).toBe(before);
  });

  it.each<[string, JsonObject, JsonObject, number, string]>([
    [
      'unknown directive',
      { simpleMap: {} },
      { simpleMap: { $patch: 'x', a: '1' } },
      500,
      'unknown patch type: x in map: map[$patch:x a:1]',
    ],
    [
      'directive that is a number',
      { simpleMap: {} },
      { simpleMap: { $patch: 1 } },
      500,
      'unknown patch type: %!s(int64=1) in map: map[$patch:1]',
    ],
    [
      'directive that is none',
      { simpleMap: {} },
      { simpleMap: { $patch: null } },
      500,
      'unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]',
    ],
    [
      'missing merge key',
      { mergingList: list('a') },
      { mergingList: [{ value: 'x' }] },
      500,
      'map: map[value:x] does not contain declared merge key: name',
    ],
    [
      'merge directive on an element',
      { mergingList: list('a') },
      { mergingList: [{ $patch: 'merge', name: 'a' }] },
      500,
      'merging lists cannot yet be specified in the patch',
    ],
    [
      'field not retained',
      { retainKeysMap: { name: 'a' } },
      { retainKeysMap: { $retainKeys: ['name'], value: 'b' } },
      400,
      'invalid patch format of retainKeys',
    ],
    [
      'bad order directive',
      { mergingList: [] },
      { $setElementOrder: [] },
      400,
      'invalid patch format of setElementOrder list',
    ],
    [
      'list of lists',
      { mergingIntList: [1] },
      { mergingIntList: [[1]] },
      422,
      'the server rejected our request due to an error in our request',
    ],
    [
      'unknown field',
      { foo: {} },
      { foo: {} },
      500,
      'unable to find api field in struct MergeItem for the json field "foo"',
    ],
  ])('refuses: %s', (_, current, patch, code, message) => {
    expect(() => applyStrategicMergePatch(current, patch, mergeItem)).toThrow(
      expect.objectContaining({ code, message }),
    );
  });

  const mismatch = (change: string, order: string) =>
    `The order in patch list:\n${change}\n doesn't match $setElementOrder list:\n${order}\n`;
  it.each<[string, JsonObject[], JsonObject[], string]>([
    [
      'another order',
      list('b', 'a'),
      list('a', 'b'),
      mismatch('[map[name:b] map[name:a]]', '[map[name:a] map[name:b]]'),
    ],
    [
      'one that it does not name',
      list('a', 'c'),
      list('a', 'b'),
      mismatch('[map[name:a] map[name:c]]', '[map[name:a] map[name:b]]'),
    ],
    [
      'one without a key after its end',
      [{ name: 'a' }, { value: 'x' }],
      list('a'),
      mismatch('[map[name:a] map[value:x]]', '[map[name:a]]'),
    ],
    [
      'a directive after its end',
      [{ name: 'a' }, { $patch: 'replace' }],
      list('a'),
      mismatch('[map[name:a] map[$patch:replace]]', '[map[name:a]]'),
    ],
    [
      'one without a key before its end',
      [{ value: 'x' }],
      list('a'),
      'map: map[value:x] does not contain declared merge key: name',
    ],
  ])('refuses an order that does not match the patch: %s', (_, mergingList, order, message) => {
    const patch = { '$setElementOrder/mergingList': order, mergingList };
    expect(() => applyStrategicMergePatch({ mergingList: list('a') }, patch, mergeItem)).toThrow(
      expect.objectContaining({ code: 500, message }),
    );
  });

  it('takes what is deleted out of the order', () => {
    const patch = {
      '$setElementOrder/mergingList': list('b'),
      mergingList: [{ name: 'b' }, { $patch: 'delete', name: 'a' }],
    };
    expect(applyStrategicMergePatch({ mergingList: list('a') }, patch, mergeItem)).toEqual({
      mergingList: list('b'),
    });
  });

  it.each<[string, JsonObject, JsonObject, number, string]>([
    [
      'elements unlike each other',
      { mergingList: [{ name: 'a' }] },
      { mergingList: [1] },
      500,
      'list element types are not identical: [[map[name:a]] [1]]',
    ],
    [
      'no list in its order',
      { mergingList: [] },
      { '$setElementOrder/mergingList': 'x' },
      500,
      'expected a []interface {}, but received a string',
    ],
    [
      'a list where an object is',
      { mergingList: [{ name: 'a' }] },
      { '$setElementOrder/mergingList': [], mergingList: { a: 1 } },
      500,
      'expected a []interface {}, but received a map[string]interface {}',
    ],
    [
      'a merge in what is no struct',
      { simpleMap: { a: {} } },
      { simpleMap: { a: {} } },
      500,
      'merging an object in json but data type is not struct, instead is: map',
    ],
  ])('refuses %s', (_, current, patch, code, message) => {
    expect(() => applyStrategicMergePatch(current, patch, mergeItem)).toThrow(
      expect.objectContaining({ code, message }),
    );
  });
});
