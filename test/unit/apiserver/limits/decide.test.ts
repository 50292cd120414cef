import { describe, expect, test } from 'vitest';
import { nothing, passed, refusalOf } from '../../../../apiserver/limits/decide.ts';

const amounts = (given: object) => ({ ...nothing(), ...given });

describe('which limits a write would pass', () => {
  test.each([
    [{}, { objects: 1e9 }, { objects: 1 }, []],
    [{ objects: 10 }, { objects: 9 }, { objects: 1 }, []],
    [{ objects: 10 }, { objects: 10 }, { objects: 1 }, ['objects']],
    [{ objects: 0 }, {}, { objects: 1 }, ['objects']],
    // Others did; this asks for none.
    [{ objects: 10 }, { objects: 12 }, { bytes: 100 }, []],
    [
      { objects: 10, bytes: 100 },
      { objects: 10, bytes: 90 },
      { objects: 1, bytes: 20 },
      ['objects', 'bytes'],
    ],
    [{ bytes: 100 }, { bytes: 200 }, {}, []],
    [{ webhooks: 2 }, { webhooks: 1 }, { webhooks: 2 }, ['webhooks']],
  ])('of %j with %j used and %j more: %j', (bounds, used, more, expected) => {
    expect(passed(bounds, amounts(used), amounts(more))).toEqual(expected);
  });

  test('are told in the words of a ResourceQuota', () => {
    const one = { id: 'x', path: 'root:a', bounds: { objects: 10, bytes: 100 } };
    const text = refusalOf(
      one,
      ['objects', 'bytes'],
      amounts({ objects: 10, bytes: 90 }),
      amounts({ objects: 1, bytes: 20 }),
    );
    expect(text).toBe(
      'exceeded limits of logical cluster root:a, requested: objects=1,bytes=20, used: objects=10,bytes=90, limited: objects=10,bytes=100',
    );
  });
});
