import fc from 'fast-check';
import mergePatch from 'json-merge-patch';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { applyMergePatch } from '../../../../kube/patch/merge.ts';

const object = fc.dictionary(
  fc.string({ maxLength: 3 }),
  fc.jsonValue({ maxDepth: 3 }),
) as fc.Arbitrary<Json>;

describe('applyMergePatch', () => {
  it.each<[Json, Json, Json]>([
    [{ a: 1 }, { a: 2 }, { a: 2 }],
    [{ a: 1 }, { a: null }, {}],
    [{ a: 1 }, { b: { c: null, d: 1 } }, { a: 1, b: { d: 1 } }],
    [{ a: [1] }, { a: [2, 3] }, { a: [2, 3] }],
    [{ a: { b: 1 } }, { a: 'x' }, { a: 'x' }],
    [{ a: 'x' }, { a: { b: 1 } }, { a: { b: 1 } }],
    [{ a: [1] }, { a: [{ b: null, c: 1 }] }, { a: [{ c: 1 }] }],
  ])('%j and %j make %j', (target, patch, expected) => {
    expect(applyMergePatch(target, patch)).toEqual(expected);
  });

  it('is idempotent and leaves its arguments alone', () => {
    fc.assert(
      fc.property(object, object, (target, patch) => {
        // Nulls in an array that replaces an object stay at first, as they do in Kubernetes.
        fc.pre(!/\[.*null/.test(JSON.stringify(patch)));
        const before = JSON.stringify([target, patch]);
        const once = applyMergePatch(target, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
        expect(JSON.stringify([target, patch])).toBe(before);
        expect(applyMergePatch(target, {})).toEqual(target);
      }),
    );
  });

  it('keeps __proto__ an ordinary key', () => {
    const patched = applyMergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [1, 'error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}'],
  ])('refuses %j', (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrow(expect.objectContaining({ code: 400, message }));
  });
});

// What an independent implementation of RFC 7396 says is the difference takes one to the other here; null says "remove" there.
it('carries out what json-merge-patch finds between any two documents', () => {
  fc.assert(
    fc.property(object, object, (from, to) => {
      fc.pre(!JSON.stringify([from, to]).includes('null'));
      const [before, after] = JSON.parse(JSON.stringify([from, to])) as [Json & object, Json & object];
      const patch = mergePatch.generate(before, after) as Json | undefined;
      expect(patch === undefined ? before : applyMergePatch(before, patch)).toEqual(after);
    }),
  );
});
