import { expect, test } from 'vitest';
import { pemBlocks } from '../../../../kube/validation/pem.ts';

const block = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}-----END ${type}-----\n`;

test.each<[string, string, [string, string][]]>([
  ['one', block('A', 'YQ==\n'), [['A', 'a']]],
  [
    'two, and what is between them',
    `x\n${block('A', 'YQ==\n')}y\n${block('B', 'Yg==\n')}z`,
    [
      ['A', 'a'],
      ['B', 'b'],
    ],
  ],
  ['lines as on Windows', '-----BEGIN A-----\r\nYQ==\r\n-----END A-----\r\n', [['A', 'a']]],
  ['an empty one', block('A', ''), [['A', '']]],
  ['one in mid-line', `x${block('A', 'YQ==\n')}`, []],
  ['one that ends in mid-line', '-----BEGIN A-----\nYQ== -----END A-----\n', []],
  ['one that ends as another', '-----BEGIN A-----\nYQ==\n-----END B-----\n', []],
  // Each would be looked at to the end of all.
  ['many that do not end', '-----BEGIN A-----\n'.repeat(200_000), []],
])('the blocks of %s', (_, text, blocks) => {
  expect(pemBlocks(text).map(({ type, bytes }) => [type, bytes.toString()])).toEqual(blocks);
});
