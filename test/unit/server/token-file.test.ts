import { expect, test } from 'vitest';
import { readCsv } from '../../../server/authentication/csv.ts';
import { readTokens } from '../../../server/authentication/token-file.ts';

test.each<[string, string[][]]>([
  ['', []],
  ['a,b\n', [['a', 'b']]],
  [
    'a,b\r\n\r\n\nc,d',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['a,"b,c",""\n', [['a', 'b,c', '']]],
  ['"a ""b"" \n c",d\n', [['a "b" \n c', 'd']]],
  ['a, b ,\n', [['a', ' b ', '']]],
  ['a\rb,c\n', [['a\rb', 'c']]],
])('%j', (text, rows) => {
  expect(readCsv(text)).toEqual(rows);
});

test.each([
  ['a,b"c\n', 'parse error on line 1: bare "'],
  ['a\n"b"c\n', 'parse error on line 2: extraneous or missing "'],
  ['"a', 'parse error on line 1: extraneous or missing "'],
])('%j is none', (text, why) => {
  expect(() => readCsv(text)).toThrow(why);
});

test('a line is a token, whose it is, and of which groups', () => {
  const users = readTokens('t1,ann,1,"dev,ops"\nt2,bob,\n,nobody,2\nt1,eve,3\nt4,x,,system:masters,more\n');
  expect([...users]).toEqual([
    ['t1', { name: 'eve', uid: '3', groups: [] }],
    ['t2', { name: 'bob', groups: [] }],
    ['t4', { name: 'x', groups: ['system:masters'] }],
  ]);
});

test.each([
  ['t,ann\n', 'at least 3 columns (token, user name, user uid), found 2 in record 1'],
  ['t,system:serviceaccount:a:b,\n', 'is one of a logical cluster'],
])('%j is refused', (text, why) => {
  expect(() => readTokens(text)).toThrow(why);
});
