import { expect, test } from 'vitest';
import { firstAt } from '../../../../kube/jsonpath/find.ts';
import { parsePath } from '../../../../kube/jsonpath/parse.ts';

const object = {
  metadata: { labels: { 'a.b/c': 'abc', plain: 'pl' } },
  spec: {
    list: ['one', 'two', 'three'],
    map: { x: '1', y: '2' },
    items: [
      { n: 'a', v: 'va', k: 1, ok: false, in: { side: 'p' }, t: 'a', l: { z: '0' } },
      { n: 'b', v: 'vb', k: 2, ok: true, in: { side: 'q' }, opt: 'o', t: 'a)b', l: { z: '1', 'p.q': '1' } },
    ],
    nothing: null,
    text: 'hello',
    deep: { er: { est: 'e' } },
  },
};

/** As kube-apiserver 1.36 shows them in columns of a custom resource. */
const paths: [path: string, value: unknown][] = [
  ['.spec.text', 'hello'],
  ['.spec.nothing', null],
  ['.spec.map', { x: '1', y: '2' }],
  [String.raw`.metadata.labels['a\.b/c']`, 'abc'],
  [String.raw`.metadata.labels.a\.b/c`, 'abc'],
  [".metadata.labels['a.b/c']", undefined],
  [".metadata.labels['plain']", 'pl'],
  [".spec['deep'].er['est']", 'e'],
  ['.metadata.labels.constructor', undefined],
  ['.spec.list[0]', 'one'],
  ['.spec.list[-1]', 'three'],
  ['.spec.list[1:]', 'two'],
  ['.spec.list[:2]', 'one'],
  ['.spec.list[1,2]', 'two'],
  ['.spec.list[*]', 'one'],
  ['.spec.list[7]', undefined],
  ['.spec.text[0]', undefined],
  ['.spec.missing[0]', undefined],
  [".spec.map['y','x']", '2'],
  ['.spec.map.*', '1'],
  ['.spec.items[*].n', 'a'],
  ['.spec.items[-1:].n', 'b'],
  ['.spec.items[5].n', undefined],
  ['.spec.items[?(@.n=="b")].v', 'vb'],
  ['.spec.items[?(@.n!="b")].v', 'va'],
  [".spec.items[?(@.n == 'b')].v", 'vb'],
  ['.spec.items[?(@.k>1)].v', 'vb'],
  ['.spec.items[?(@.k<=1)].v', 'va'],
  ['.spec.items[?(@.k==2)].n', 'b'],
  ['.spec.items[?(@.k=="2")].n', undefined],
  ['.spec.items[?(@.ok==true)].n', 'b'],
  ['.spec.items[?(@.in.side=="q")].n', 'b'],
  ['.spec.items[?(@.opt)].n', 'b'],
  ['.spec.items[?(@.t=="a)b")].n', 'b'],
  ['.spec.items[?(@.l[\'z\']=="1")].n', 'b'],
  [String.raw`.spec.items[?(@.l['p\.q']=="1")].n`, 'b'],
  ['..n', 'a'],
  ['.spec..v', 'va'],
];

test.each(paths)('%s', (path, value) => {
  expect(firstAt(object, parsePath(path) ?? [])).toEqual(value);
});

test.each(['.spec[', '.spec["a"]', '.spec[x]', '.a[?(@.b=="c)]', '.a....b', '.a b'])(
  '%s is no path',
  (path) => {
    expect(parsePath(path)).toBeUndefined();
  },
);

test('a path that looks at all there is, over and over, ends without an answer', () => {
  let nested: object = { n: 1 };
  for (let i = 0; i < 60; i++) nested = { a: nested, b: { c: [nested] } };
  expect(firstAt(nested, parsePath('..a..a..a..n') ?? [])).toBeUndefined();
});

const numbers = (count: number) => Array.from({ length: count }, () => 1);
const nested = (depth: number, inside: unknown) =>
  numbers(depth).reduce<unknown>((below) => ({ a: below }), inside);

test.each<[name: string, path: string, object: unknown, value: unknown]>([
  ['more items than a call takes arguments', '.a[*]', { a: numbers(300_000) }, undefined],
  ['one of those', '.a[299999]', { a: numbers(300_000) }, 1],
  ['all of them, again and again', `.a[${numbers(200).map(() => '*')}]`, { a: numbers(90_000) }, undefined],
  ['what is far down', '..x', nested(9000, { x: 'found' }), 'found'],
  ['what is not there, with much below', '..x', nested(9000, numbers(80_000)), undefined],
])('%s', (_, path, object, value) => {
  expect(firstAt(object, parsePath(path) ?? [])).toBe(value);
});
