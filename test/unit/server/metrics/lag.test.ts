import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Lag, lagNames } from '../../../../server/metrics/lag.ts';

let now: number;
let lag: Lag;

beforeEach(() => {
  vi.useFakeTimers();
  now = 0;
  lag = new Lag(() => now);
  lag.start();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The timer is called so late. */
function look(lateMs: number): void {
  now += 200 + lateMs;
  vi.advanceTimersByTime(200);
}

function told(figure: string): number | undefined {
  const found = lag
    .families()
    .find(({ definition }) => definition.name === `nodejs_eventloop_lag_${figure}_seconds`);
  return found?.figures[0]?.value;
}

test('a process in which all is called in time tells of no lag, however seldom it looks', () => {
  for (let i = 0; i < 10; i++) look(0);
  expect(told('max')).toBeLessThan(0.001);
});

test.each([
  { figure: 'max', seconds: 0.6 },
  { figure: 'p99', seconds: 0.6 },
  { figure: 'p90', seconds: 0.003 },
  { figure: 'p50', seconds: 0.001 },
  { figure: 'min', seconds: 0.001 },
])('of 20 looks, of which one is 600 ms late and three are 3: $figure', ({ figure, seconds }) => {
  for (let i = 0; i < 16; i++) look(1);
  for (let i = 0; i < 3; i++) look(3);
  look(600);
  expect(told(figure)).toBeCloseTo(seconds, 3);
});

test('one that was late is late once: what is due next counts from then', () => {
  look(600);
  lag.families();
  look(0);
  expect(told('max')).toBeLessThan(0.001);
});

test('each scrape tells of the time since the one before, and the same where nothing was looked at since', () => {
  look(600);
  expect([told('max'), told('max')]).toEqual([expect.closeTo(0.6, 3), expect.closeTo(0.6, 3)]);
  look(5);
  expect(told('max')).toBeCloseTo(0.005, 3);
});

test('of several processes the slowest counts', () => {
  const merges = lag.families().map(({ definition }) => definition.merge);
  expect(merges).toEqual(lagNames.map(() => 'max'));
});
