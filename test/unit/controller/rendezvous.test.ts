import { describe, expect, it } from 'vitest';
import { evenly, preferred } from '../../../controller/rendezvous.ts';

const names = Array.from({ length: 1000 }, (_, i) => `syncers/cluster-${i}`);
const members = (count: number) => Array.from({ length: count }, (_, i) => `server-${i}`);
const spread = (all: readonly string[]) => {
  const parts = new Map(all.map((member) => [member, 0]));
  for (const name of names) {
    const one = preferred(name, all) ?? '';
    parts.set(one, (parts.get(one) ?? 0) + 1);
  }
  return parts;
};

describe('who is to do what bears a name', () => {
  it('is nobody where nobody is, and the only one who is there', () => {
    expect([preferred('x', []), preferred('x', ['a'])]).toEqual([undefined, 'a']);
  });

  it.each([2, 3, 5, 10])('of %i each has about as many', (count) => {
    for (const part of spread(members(count)).values()) {
      expect(part).toBeGreaterThan((names.length / count) * 0.7);
      expect(part).toBeLessThan((names.length / count) * 1.3);
    }
  });

  it('is the same in whatever order they are known', () => {
    for (const name of names) expect(preferred(name, members(5))).toBe(preferred(name, members(5).reverse()));
  });

  it('when one goes, only what it had gets another; when it comes again it has the same', () => {
    const all = members(4);
    const left = all.filter((member) => member !== 'server-2');
    for (const name of names) {
      const before = preferred(name, all);
      if (before === 'server-2') expect(left).toContain(preferred(name, left));
      else expect(preferred(name, left)).toBe(before);
    }
  });
});

describe('who is to do each of a few', () => {
  const few = Array.from({ length: 10 }, (_, i) => `part-${i}`);
  const sizes = (found: ReadonlyMap<string, string>) => {
    const all = [...found.values()];
    return [...new Set(all)].map((member) => all.filter((other) => other === member).length);
  };

  it('is nobody where nobody is, and the only one who is there', () => {
    expect(evenly(few, []).size).toBe(0);
    expect(sizes(evenly(few, ['a']))).toEqual([10]);
  });

  it.each([2, 3, 4, 5, 10, 12])('of %i each has its part, rounded up, and no more', (count) => {
    for (let trial = 0; trial < 50; trial++) {
      const all = members(count).map((member) => `${member}-${trial}`);
      const found = evenly(few, all);
      expect([...found.keys()]).toEqual(few);
      expect(Math.max(...sizes(found))).toBeLessThanOrEqual(Math.ceil(few.length / count));
      expect(evenly(few, all.reverse())).toEqual(found);
    }
  });

  it('half of them move at most when one of two goes, and none when another of the same name comes', () => {
    const both = evenly(few, members(2));
    const left = evenly(few, ['server-0']);
    expect(few.filter((name) => both.get(name) !== left.get(name))).toHaveLength(5);
  });
});
