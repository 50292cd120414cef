import { describe, expect, it } from 'vitest';
import { decide, isQuiet, type Load, type Situation, type Step } from '../../../server/serving/decide.ts';

const load = (busy: number, requests = 1000, connections = 64): Load => ({ busy, requests, connections });
const idle = load(0.02, 0, 0);

const cases: [name: string, situation: Partial<Situation>, step: Step | undefined][] = [
  ['little to do', { loads: [load(0.3)] }, undefined],
  ['busy alone', { loads: [load(0.95)] }, { do: 'start' }],
  ['busy, but not with requests', { loads: [load(0.95, 20)] }, undefined],
  ['busy, and none may start', { loads: [load(0.95)], most: 0 }, undefined],
  ['busy while one starts', { loads: [load(0.95)], waiting: true }, undefined],
  ['one beside it has nothing to do', { loads: [load(1), idle] }, { do: 'shed', from: 0, share: 0.98 }],
  ['the other way round', { loads: [load(0.4), load(0.8)] }, { do: 'shed', from: 1, share: 0.5 }],
  ['a little uneven', { loads: [load(0.95), load(0.85)], most: 1 }, undefined],
  ['one connection cannot be spread', { loads: [load(1, 900, 1), idle], most: 1 }, undefined],
  ['all are busy', { loads: [load(0.95), load(0.9)] }, { do: 'start' }],
  ['all are busy, and no more may start', { loads: [load(0.95), load(0.9)], most: 1 }, undefined],
  ['quiet for a moment', { loads: [idle, idle], quietSeconds: 30 }, undefined],
  ['quiet for long', { loads: [idle, idle], quietSeconds: 60 }, { do: 'retire' }],
  ['quiet for long, alone', { loads: [idle], quietSeconds: 1000 }, undefined],
];

describe('serving processes', () => {
  it.each(cases)('%s', (_, situation, step) => {
    const decided = decide({ loads: [], waiting: false, most: 3, quietSeconds: 0, ...situation });
    if (decided?.do === 'shed') decided.share = Math.round(decided.share * 100) / 100;
    expect(decided).toEqual(step);
  });

  it('are quiet when one fewer would do', () => {
    expect(isQuiet([load(0.1), load(0.2)])).toBe(true);
    expect(isQuiet([load(0.3), load(0.2)])).toBe(false);
  });
});
