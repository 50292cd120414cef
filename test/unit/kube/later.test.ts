import { describe, expect, it } from 'vitest';
import { andThen, inTurn, isLater, type Later } from '../../../kube/later.ts';

describe('now or later', () => {
  it('goes on at once with what is here', () => {
    expect(andThen(1, (one) => one + 1)).toBe(2);
    const done: number[] = [];
    expect(inTurn([1, 2], (n) => void done.push(n))).toBeUndefined();
    expect(done).toEqual([1, 2]);
  });

  it('goes on when what was waited for has come', async () => {
    const answer: Later<number> = andThen(Promise.resolve(1), (one) => one + 1);
    expect(isLater(answer)).toBe(true);
    expect(await answer).toBe(2);
  });

  it('begins none before the one before it is done', async () => {
    const log: string[] = [];
    await inTurn(['a', 'b', 'c'], (name) => {
      log.push(`${name} begins`);
      return name === 'b' ? Promise.resolve().then(() => void log.push('b ends')) : undefined;
    });
    expect(log).toEqual(['a begins', 'b begins', 'b ends', 'c begins']);
  });

  it('stops at the first that fails', async () => {
    const begun: number[] = [];
    const act = (n: number) => {
      begun.push(n);
      return n === 2 ? Promise.reject(new Error('no')) : undefined;
    };
    await expect(inTurn([1, 2, 3], act)).rejects.toThrow('no');
    expect(begun).toEqual([1, 2]);
  });
});
