import { expect, it } from 'vitest';
import { random } from './random.ts';
import { Updates } from './updates.ts';

/** So many of each; whoever changes the rules takes more: HISTORIES=10000, which are some minutes. */
const many = Number(process.env['HISTORIES'] ?? 60);
const steps = 1500;

interface History {
  world: Updates;
  most: number;
  /** What was more on its way than may be. */
  broken: string | undefined;
}

interface Happens {
  edits: boolean;
  /** Pods fail, counts change, clusters fall silent: who never was surges with no more others of the same than may. */
  troubles?: boolean;
}

/**
 * Each of these is late, in any order; `edits`: the template changes again while a turn passes, and what was sent may be lost. Then
 * what is missing is no part of it: a Deployment that is paused says nothing of a pod of another template that is about to go.
 */
function history(seed: number, { edits, troubles }: Happens): History {
  const next = random(seed * 7919);
  const pick = (n: number) => Math.floor(next() * n);
  const sizes = Array.from({ length: 2 + pick(2) }, () => 1 + pick(3));
  const most = 1 + pick(sizes.length - 1);
  const maxSurge = edits ? most : pick(most + 1);
  const world = new Updates(sizes, { maxSurge, maxUnavailable: most - maxSurge });
  world.quiesce();
  world.edit();
  let left = edits ? 5 : 0;
  const again = (isTime: boolean) => {
    if (left > 0 && isTime) left--;
    else return;
    world.edit();
  };
  const does: ((c: string) => void)[] = [
    () => again(pick(40) === 0),
    () => world.learn(),
    () => again(world.split() && pick(2) === 0),
    () => again(world.split() && pick(2) === 0),
    (c) => world.hearShare(c),
    (c) => world.hearShare(c),
    (c) => world.hearRoot(c),
    (c) => world.send(c),
    (c) => world.send(c),
    (c) => world.land(c, edits && pick(50) === 0),
    (c) => world.land(c),
    (c) => world.watch(c),
    (c) => world.watch(c),
    (c) => world.report(c),
    (c) => world.report(c),
    (c) => edits && pick(50) === 0 && world.restart(c),
    (c) => troubles && pick(20) === 0 && world.there.get(c)?.fail(pick),
    (c) => troubles && pick(20) === 0 && world.resize(c, pick(3) - 1),
    (c) => troubles && pick(50) === 0 && world.silence(c),
    (c) => pick(10) === 0 && world.silent.delete(c),
    (c) => world.there.get(c)?.sync(),
    (c) => world.there.get(c)?.sync(),
    (c) => world.there.get(c)?.sync(),
    (c) => world.there.get(c)?.syncSet(),
    (c) => world.there.get(c)?.syncSet(),
    (c) => world.there.get(c)?.syncSet(),
    (c) => world.there.get(c)?.start(pick),
    (c) => world.there.get(c)?.start(pick),
  ];
  for (let i = 0; i < steps; i++) {
    does[pick(does.length)]?.(world.names[pick(world.names.length)] ?? '');
    const under = world.names.filter((c) => {
      const there = world.there.get(c);
      return troubles ? there?.isSurging && !world.wereSilent.has(c) : there?.isUnderWay;
    });
    if (under.length > most)
      return { world, most, broken: `seed ${seed}: ${under} of ${most}: ${world.shown}` };
  }
  return { world, most, broken: undefined };
}

it.each<[string, Happens]>([
  ['once', { edits: false }],
  ['again and again', { edits: true }],
  ['again and again, in trouble,', { edits: true, troubles: true }],
])(
  'what is updated %s is under way in as many clusters as its budget is for, and ends',
  (_what, happens) => {
    for (let seed = 1; seed <= many; seed++) {
      const { world, broken } = history(seed, happens);
      expect(broken).toBeUndefined();
      world.quiesce();
      expect(world.isDone, `seed ${seed}: ${world.shown}`).toBe(true);
    }
  },
  3_600_000,
);
