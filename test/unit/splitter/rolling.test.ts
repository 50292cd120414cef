import { expect, it } from 'vitest';
import { random } from './random.ts';
import { Moving } from './rolling.ts';

const one = { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };
const names = ['a', 'b', 'c'];

/** Random edits, moves, failures and lags. */
function story(world: Moving, next: () => number, steps: number): void {
  const pick = (n: number) => Math.floor(next() * n);
  for (let i = 0; i < steps; i++) {
    const c = names[pick(3)] ?? '';
    const what = next();
    if (what < 0.02) world.edit();
    else if (what < 0.04) world.edit({ replicas: 3 + pick(5) });
    else if (what < 0.06) world.clusters = names.filter((_, at) => at === 0 || pick(2) === 0);
    else if (what < 0.08) world.room.set(c, 1 + pick(5));
    else if (what < 0.12) world.fail(c);
    else if (what < 0.3) world.split();
    else if (what < 0.5) world.apply(c);
    else if (what < 0.7) world.report(c);
    else if (what < 0.75) world.now += 2000;
    else world.step(c);
  }
}

const roomForOneMore = (world: Moving) => {
  const { replicas } = world.root.spec as { replicas: number };
  for (const c of names) world.room.set(c, Math.ceil(replicas / 3) + 1);
};

it('what is updated while it moves, scales and fails waits for nothing but room', () => {
  let ended = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const world = new Moving(names, 6, one);
    world.quiesce();
    story(world, random(seed), 200);
    world.clusters = [...names];
    roomForOneMore(world);
    world.quiesce();
    if (world.isDone) {
      ended++;
      continue;
    }
    const shares = JSON.stringify(world.shares);
    world.hasTurns = false;
    world.quiesce();
    expect(world.isDone, `seed ${seed}, without turns it goes on: ${shares}`).toBe(false);
  }
  expect(ended).toBeGreaterThan(50);
});

it('who refuses what is applied holds up nobody else, and there is never more on its way than in one cluster', () => {
  const seeds = [2612, 5060, ...Array.from({ length: 60 }, (_, i) => i + 1)];
  for (const seed of seeds) {
    const next = random(seed);
    const refuser = names[seed % 3] ?? '';
    const world = new Moving(names, 6, one);
    world.quiesce();
    for (let i = 0; i < 300; i++) {
      const c = names[Math.floor(next() * 3)] ?? '';
      const what = next();
      if (what < 0.02) world.edit();
      else if (what < 0.04) world.refusing.add(c);
      else if (what < 0.08) world.refusing.delete(c);
      else if (what < 0.3) world.split();
      else if (what < 0.5) world.apply(c);
      else if (what < 0.7) world.report(c);
      else world.step(c);
      const pods = world.pods;
      expect(pods.length, `seed ${seed}`).toBeLessThanOrEqual(7 + world.stuck);
      expect(pods.filter((p) => p.ready).length, `seed ${seed}`).toBeGreaterThanOrEqual(6);
    }
    world.refusing.clear();
    world.quiesce();
    expect(world.isDone, `seed ${seed}`).toBe(true);
    world.refusing.add(refuser);
    for (const _edit of [1, 2]) {
      world.edit();
      world.quiesce();
      const behind = names.filter((c) => !world.isFresh(c));
      expect(behind, `seed ${seed}: ${JSON.stringify(world.shares)}`).toEqual([refuser]);
    }
    world.refusing.clear();
    world.quiesce();
    expect(world.isDone, `seed ${seed}`).toBe(true);
  }
});
