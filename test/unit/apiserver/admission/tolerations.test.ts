import { expect, it } from 'vitest';
import { mergedTolerations } from '../../../../apiserver/admission/tolerations.ts';
import type { JsonObject } from '../../../../kube/object.ts';

const exists = { key: 'a', operator: 'Exists' };
const equal = { key: 'a', operator: 'Equal', value: 'x' };

it.each<[string, JsonObject[], JsonObject[]]>([
  ['of equal ones the first', [exists, { ...exists }], [exists]],
  ['a later one that includes it', [equal, exists], [exists]],
  ['an earlier one that includes it', [exists, equal], [exists]],
  ['what tolerates everything', [equal, { operator: 'Exists' }], [{ operator: 'Exists' }]],
  ['both, of other keys', [equal, { ...exists, key: 'b' }], [equal, { ...exists, key: 'b' }]],
  [
    'both, of other effects',
    [
      { ...equal, effect: 'NoExecute' },
      { ...exists, effect: 'NoSchedule' },
    ],
    [
      { ...equal, effect: 'NoExecute' },
      { ...exists, effect: 'NoSchedule' },
    ],
  ],
  ['one of any effect', [{ ...equal, effect: 'NoExecute' }, exists], [exists]],
  [
    'the longer time',
    [
      { ...exists, effect: 'NoExecute', tolerationSeconds: 5 },
      { ...exists, effect: 'NoExecute', tolerationSeconds: 9 },
    ],
    [{ ...exists, effect: 'NoExecute', tolerationSeconds: 9 }],
  ],
  [
    'both, where one that ends is after one that does not say when',
    [
      { ...equal, effect: 'NoExecute' },
      { ...exists, effect: 'NoExecute', tolerationSeconds: 9 },
    ],
    [
      { ...equal, effect: 'NoExecute' },
      { ...exists, effect: 'NoExecute', tolerationSeconds: 9 },
    ],
  ],
  ['the one without operator', [{ key: 'a', value: 'x' }, equal], [{ key: 'a', value: 'x' }]],
  [
    'the one without operator, if it comes later too',
    [equal, { key: 'a', value: 'x' }],
    [{ key: 'a', value: 'x' }],
  ],
])('of tolerations that are merged stays %s', (_what, all, merged) => {
  expect(mergedTolerations(all)).toEqual(merged);
});

it('as many as fit in a class are merged in no time', () => {
  const all = Array.from({ length: 10_000 }, (_, i) => ({ ...equal, key: `k${i}`, effect: 'NoSchedule' }));
  const before = process.cpuUsage();
  expect(mergedTolerations([...all, ...all])).toEqual(all);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});
