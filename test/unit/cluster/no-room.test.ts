import { describe, expect, it } from 'vitest';
import { type Lacking, lackOfRoom, type NoRoom } from '../../../cluster/no-room.ts';

const comesBy = '(more nodes, a higher spec.capacity, one more cluster)';
const toDo = (what: string, fewer?: string) =>
  `make room for ${what} ${comesBy}${fewer ? ` or have ${fewer} fewer` : ''}; it goes on by itself then`;

it.each<[string, NoRoom | undefined, string[], string | undefined]>([
  ['nothing, where all has room', undefined, ['a'], undefined],
  [
    'where they are meanwhile, and what they ask for',
    { pods: 2, of: 9, requests: { cpu: '1', memory: '2Gi' }, on: ['a'] },
    ['a', 'b'],
    `2 of its 9 pods have room nowhere and are on a all the same; ${toDo('2 pods with cpu 1, memory 2Gi in all', '2 replicas')}`,
  ],
  [
    'one',
    { pods: 1, of: 9, on: ['a', 'b'] },
    ['a', 'b'],
    `1 of its 9 pods has room nowhere and is on a, b all the same; ${toDo('1 pod', '1 replica')}`,
  ],
  [
    'that it is nowhere',
    { pods: 1, of: 5 },
    [],
    `1 of its 5 pods has room nowhere, so none of it is placed; ${toDo('1 pod', '1 replica')}`,
  ],
  [
    'that it stays',
    { pods: 3, of: 7 },
    ['b'],
    `3 of its 7 pods have room nowhere where it may go, so it stays where it is; ${toDo('3 pods', '3 replicas')}`,
  ],
  [
    'nothing of fewer, where it would be none',
    { pods: 2, of: 2 },
    [],
    `2 of its 2 pods have room nowhere, so none of it is placed; ${toDo('2 pods')}`,
  ],
])('what has no room says %s', (_, noRoom, clusters, expected) => {
  expect(lackOfRoom({ noRoom, clusters })).toBe(expected);
});

describe('what has no room', () => {
  const noRoom: NoRoom = { pods: 2, of: 6, on: ['a'] };
  const lacking = (more: Partial<Lacking>) => lackOfRoom({ noRoom, clusters: ['a'], ...more }) ?? '';

  it('says nothing of fewer replicas where an autoscaler has them', () => {
    expect(lacking({ scale: { replicas: 6, generation: 1, clusters: ['a'] } })).not.toContain('fewer');
  });

  it('names those that take nothing for another reason, after the rest', () => {
    const reasons = { a: 'it takes 6 pods', b: 'it is cordoned', c: 'needs 1 pod, 0 left' };
    const refused = ['b', 'gone'];
    expect(lacking({ reasons, noRoom: { ...noRoom, refused } })).toMatch(
      /it goes on by itself then; b: it is cordoned$/,
    );
  });

  it('is bounded, whatever things are called', () => {
    const names = Array.from({ length: 50 }, (_, i) => `${i}${'n'.repeat(240)}`);
    const long = 'x'.repeat(1_000_000);
    const text = lacking({
      reasons: Object.fromEntries(names.map((name) => [name, long])),
      noRoom: { ...noRoom, on: names, refused: names, requests: { [long]: '1', cpu: long } },
    });
    expect(text.length).toBeLessThan(4000);
    expect(text).toContain('and 47 more');
    expect(text).toContain('have 2 replicas fewer');
  });
});
