import { expect, it } from 'vitest';
import { lackOfRoom, type NoRoom } from '../../../cluster/no-room.ts';

const toDo = (among: string, fewer: string) =>
  `make room${among} (more nodes, a higher spec.capacity, one more cluster) or have ${fewer} fewer; it goes on by itself then`;

it.each<[string, NoRoom | undefined, string[], string | undefined]>([
  ['nothing, where all has room', undefined, ['a'], undefined],
  [
    'where they are meanwhile, and what they ask for',
    { pods: 2, of: 9, requests: { cpu: '1', memory: '2Gi' }, on: ['a'] },
    ['a', 'b'],
    `2 of its 9 pods have room nowhere and are on a all the same; ${toDo(' for cpu 1, memory 2Gi', '2 replicas')}`,
  ],
  [
    'one',
    { pods: 1, of: 9, on: ['a', 'b'] },
    ['a', 'b'],
    `1 of its 9 pods has room nowhere and is on a, b all the same; ${toDo('', '1 replica')}`,
  ],
  [
    'that it is nowhere',
    { pods: 1, of: 5 },
    [],
    `1 of its 5 pods has room nowhere, so none of it is placed; ${toDo('', '1 replica')}`,
  ],
  [
    'that it stays',
    { pods: 3, of: 7 },
    ['b'],
    `3 of its 7 pods have room nowhere where it may go, so it stays as it is; ${toDo('', '3 replicas')}`,
  ],
])('what has no room says %s', (_, noRoom, clusters, expected) => {
  expect(lackOfRoom({ noRoom, clusters })).toBe(expected);
});
