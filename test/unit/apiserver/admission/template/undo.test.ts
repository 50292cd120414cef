import { expect, test } from 'vitest';
import { broughtBack } from '../../../../../apiserver/admission/template/undo.ts';
import type { Json } from '../../../../../kube/object.ts';

const app = { name: 'app', image: 'app:1' };
const mounted = { ...app, volumeMounts: [{ name: 'token', mountPath: '/t' }] };
const side = { name: 'side', image: 'side:1' };

const cases: [
  what: string,
  written: Json | undefined,
  shown: Json | undefined,
  answered: Json,
  back: Json | undefined,
][] = [
  ['nothing was changed', { a: 1 }, { a: 1, added: 2 }, { a: 1, added: 2 }, { a: 1 }],
  ['of nothing that was written', undefined, { added: 2 }, { added: 2 }, undefined],
  ['something came', { a: 1 }, { a: 1, added: 2 }, { a: 1, added: 2, b: 3 }, { a: 1, b: 3 }],
  ['something came where nothing was', undefined, undefined, { b: 3 }, { b: 3 }],
  ['what was added was changed', { a: 1 }, { a: 1, added: 2 }, { a: 1, added: 3 }, { a: 1, added: 3 }],
  ['what was written was changed', { a: 1 }, { a: 1, added: 2 }, { a: 2, added: 2 }, { a: 2 }],
  ['what was written was taken away', { a: 1, b: 1 }, { a: 1, b: 1, added: 2 }, { a: 1, added: 2 }, { a: 1 }],
  ['a sidecar at the end', [app], [mounted], [mounted, side], [app, side]],
  ['a sidecar at the beginning', [app], [mounted], [side, mounted], [side, app]],
  [
    'a sidecar, and another image',
    [app],
    [mounted],
    [{ ...mounted, image: 'app:2' }, side],
    [{ ...app, image: 'app:2' }, side],
  ],
  [
    'a volume that was added for the question',
    [],
    [{ name: 'token' }],
    [{ name: 'token' }, { name: 'v' }],
    [{ name: 'v' }],
  ],
  [
    'items without names',
    [{ key: 'mine' }],
    [{ key: 'mine', operator: 'Equal' }, { key: 'added' }],
    [{ key: 'new' }, { key: 'mine', operator: 'Equal' }, { key: 'added' }],
    [{ key: 'new' }, { key: 'mine' }],
  ],
  ['words', ['a'], ['a', 'added'], ['a', 'added', 'b'], ['a', 'b']],
];

test.each(cases)('%s', (_what, written, shown, answered, back) => {
  expect(broughtBack(written, shown, answered)).toEqual(back);
});

test('a long list is looked at as often as it is long, and not that often for each of its items', () => {
  let reads = 0;
  const many = (prefix: string): Json[] =>
    Array.from({ length: 1000 }, (_, i) => ({
      get key() {
        reads++;
        return `${prefix}${i}`;
      },
    }));
  const back = broughtBack(many('a'), many('a'), many('b'));
  expect(JSON.stringify(back)).toBe(JSON.stringify(many('b')));
  expect(reads).toBeLessThan(20_000);
});
