import fc from 'fast-check';
import fastJsonPatch from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { applyJsonPatch, unknownInOperations } from '../../../../kube/patch/json.ts';

const target = (): Json => ({ a: { b: [1, 2, 3] }, 'x/y': { '~': 1 }, n: null });

describe('applyJsonPatch', () => {
  it.each<[string, Json, Json]>([
    ['adds a key', [{ op: 'add', path: '/c', value: 1 }], { ...(target() as object), c: 1 }],
    [
      'appends',
      [{ op: 'add', path: '/a/b/-', value: 4 }],
      { ...(target() as object), a: { b: [1, 2, 3, 4] } },
    ],
    [
      'inserts',
      [{ op: 'add', path: '/a/b/1', value: 9 }],
      { ...(target() as object), a: { b: [1, 9, 2, 3] } },
    ],
    ['removes', [{ op: 'remove', path: '/a/b/0' }], { ...(target() as object), a: { b: [2, 3] } }],
    [
      'counts from the end',
      [{ op: 'remove', path: '/a/b/-1' }],
      { ...(target() as object), a: { b: [1, 2] } },
    ],
    [
      'unescapes',
      [{ op: 'replace', path: '/x~1y/~0', value: 2 }],
      { ...(target() as object), 'x/y': { '~': 2 } },
    ],
    [
      'moves',
      [{ op: 'move', from: '/a/b', path: '/m' }],
      { a: {}, 'x/y': { '~': 1 }, n: null, m: [1, 2, 3] },
    ],
    ['copies', [{ op: 'copy', from: '/a/b/2', path: '/m' }], { ...(target() as object), m: 3 }],
    [
      'replaces what is not there',
      [{ op: 'replace', path: '/new', value: 1 }],
      { ...(target() as object), new: 1 },
    ],
    ['replaces the root', [{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
    ['tests', [{ op: 'test', path: '/a', value: { b: [1, 2, 3] } }], target()],
    ['tests for absence with null', [{ op: 'test', path: '/gone', value: null }], target()],
  ])('%s', (_, patch, expected) => {
    const before = target();
    expect(applyJsonPatch(before, patch)).toEqual(expected);
    expect(before).toEqual(target());
  });

  it.each<[string, Json]>([
    ['unknown operation', [{ op: 'x', path: '/a' }]],
    ['failed test', [{ op: 'test', path: '/a', value: 1 }]],
    ['missing key', [{ op: 'remove', path: '/gone' }]],
    ['missing parent', [{ op: 'add', path: '/gone/x', value: 1 }]],
    ['index out of range', [{ op: 'add', path: '/a/b/4', value: 1 }]],
    ['no index', [{ op: 'add', path: '/a/b/x', value: 1 }]],
    ['scalar parent', [{ op: 'add', path: '/a/b/0/x', value: 1 }]],
    ['root removed', [{ op: 'remove', path: '' }]],
    ['no path', [{ op: 'add' }]],
    ['null', [null]],
  ])('answers 422 for %s', (_, patch) => {
    const message = 'the server rejected our request due to an error in our request';
    expect(() => applyJsonPatch(target(), patch)).toThrow(expect.objectContaining({ code: 422, message }));
  });

  it('tells fields of operations that nobody knows', () => {
    const patch = [{ op: 'add', path: '/a', value: { b: 1 }, extra: 1 }, null, { Op: 'add', from: '' }];
    expect(unknownInOperations(patch)).toEqual(['unknown field "[0].extra"', 'unknown field "[2].Op"']);
    expect(unknownInOperations({})).toEqual([]);
  });

  it('answers 400 for what is no patch, 413 for too many operations', () => {
    expect(() => applyJsonPatch({}, {})).toThrow(expect.objectContaining({ code: 400 }));
    expect(() => applyJsonPatch({}, [{ op: 1, path: '/a' }])).toThrow(expect.objectContaining({ code: 400 }));
    const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/n', value: null }));
    expect(() => applyJsonPatch({}, many)).toThrow(
      expect.objectContaining({
        code: 413,
        message:
          'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      }),
    );
  });

  it.each(['add', 'remove'])(
    'bounds how many items give way to those that come and go before them: %s',
    (op) => {
      const many = (length: number) => Array.from({ length }, () => ({ op, path: '/a/0', value: 1 }));
      const a = Array(60_000).fill(0);
      expect(() => applyJsonPatch({ a }, many(3000))).not.toThrow();
      expect(() => applyJsonPatch({ a }, many(4000))).toThrow(expect.objectContaining({ code: 413 }));
      const last = Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/a/-', value: 1 }));
      expect(() => applyJsonPatch({ a }, last)).not.toThrow();
    },
  );

  it('bounds what copies add up to', () => {
    const doubling = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    expect(() => applyJsonPatch({ a: ['x'.repeat(100)] }, doubling)).toThrow(
      expect.objectContaining({ code: 422 }),
    );
  });

  it('keeps __proto__ an ordinary key', () => {
    const patched = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]);
    expect(Object.keys(patched as object)).toEqual(['__proto__']);
    expect(() => applyJsonPatch({}, [{ op: 'add', path: '/constructor/x', value: 1 }])).toThrow();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

// What an independent implementation of RFC 6902 says is the difference takes one to the other here.
it('carries out what fast-json-patch finds between any two documents', () => {
  const object = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(object, object, (from, to) => {
      const [before, after] = JSON.parse(JSON.stringify([from, to])) as [Json & object, Json & object];
      expect(applyJsonPatch(before, fastJsonPatch.compare(before, after) as unknown as Json)).toEqual(after);
    }),
  );
});
