import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { worldOf } from '../../../scheduler/copy.ts';
import { planOf } from '../../../scheduler/plan.ts';
import { marginPoints } from '../../../scheduler/relief.ts';
import { countsOf } from '../../../server/plan-counts.ts';
import { deployment } from '../cluster/objects.ts';
import { Stored } from './stored.ts';
import { cluster } from './world.ts';

const names = ['a', 'b', 'c', 'd'];
const logical = { 'kcp.io/cluster': 'one' };
const physical = { group: 'atoll.dev', version: 'v1alpha1', resource: 'physicalclusters' };

interface Load {
  cpu: number;
  memory: number;
}
interface Start extends Load {
  on: number;
}
type Room = Load | undefined;

/** Each with a Namespace of its own, on a cluster that it was once alone to take. */
function begun(rooms: readonly Room[], starts: readonly Start[]): Stored {
  const stored = new Stored();
  for (const [i, { on, cpu, memory }] of starts.entries()) {
    const namespace = `n${String(i).padStart(2, '0')}`;
    const metadata = { name: namespace, uid: namespace, annotations: logical };
    stored.put('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
    const requests = { cpu: String(cpu), memory: String(memory) };
    const { object } = deployment('web', {
      podSpec: { containers: [{ name: 'c', image: 'i', resources: { requests } }] },
    });
    const at = { ...object.metadata, namespace, uid: `w${namespace}`, annotations: logical };
    stored.put('deployments', { ...object, metadata: at });
    clusters(stored, rooms, (name) => ({ unschedulable: names.indexOf(name) !== on % rooms.length }), false);
    stored.decide();
  }
  stored.settle();
  clusters(stored, rooms, () => ({}));
  return stored;
}

function clusters(stored: Stored, rooms: readonly Room[], spec: (name: string) => object, bounded = true) {
  for (const [i, room] of rooms.entries()) {
    const name = names[i] ?? '';
    const capacity = room && bounded && { cpu: String(room.cpu), memory: String(room.memory) };
    stored.put(
      'physicalclusters',
      cluster(name, { ...(capacity && { capacity }), ...spec(name) }) as KubeObject,
    );
  }
}

const placements = (stored: Stored) => stored.list('placements') as Placement[];
const where = (stored: Stored) =>
  new Map(placements(stored).map((one) => [one.metadata.namespace ?? '', one.spec?.clusters.join() ?? '']));

/** By cluster, what is taken, and how many pods. */
function loads(stored: Stored, starts: readonly Start[]): Map<string, Load & { pods: number }> {
  const all = new Map(names.map((name) => [name, { cpu: 0, memory: 0, pods: 0 }]));
  for (const [namespace, on] of where(stored)) {
    const [load, of] = [all.get(on), starts[Number(namespace.slice(1))]];
    if (!load || !of) continue;
    load.cpu += of.cpu;
    load.memory += of.memory;
    load.pods += 1;
  }
  return all;
}

/** Points of a hundred that are free, by the book. */
function free(room: Room, load: Load): number {
  if (!room) return 100;
  return 100 - 100 * Math.max(load.cpu / room.cpu, load.memory / room.memory);
}

/** Until nothing moves; of each that moved, from where to where, in order. */
function run(stored: Stored, hours = 0): { namespace: string; from: string; to: string }[] {
  const moves = [];
  for (let round = 0; ; round++) {
    expect(round).toBeLessThan(200);
    const before = where(stored);
    stored.decide();
    const now = where(stored);
    const moved = [...now].filter(([namespace, on]) => before.get(namespace) !== on);
    for (const [namespace, to] of moved) moves.push({ namespace, from: before.get(namespace) ?? '', to });
    stored.settle();
    vi.advanceTimersByTime(hours * 3_600_000 + 1000);
    if (moved.length === 0) return moves;
  }
}

beforeEach(() => void vi.useFakeTimers({ now: 1e12 }));
afterEach(() => void vi.useRealTimers());

const amount = fc.integer({ min: 0, max: 30 });
const load = fc.record({ cpu: amount, memory: amount });
const room = fc.option(
  fc.record({ cpu: fc.integer({ min: 20, max: 90 }), memory: fc.integer({ min: 20, max: 90 }) }),
  {
    nil: undefined,
    freq: 4,
  },
);
const start = fc.tuple(load, fc.nat(3)).map(([of, on]): Start => ({ ...of, on }));
const rooms = fc.array(room, { minLength: 2, maxLength: 4 });
const starts = fc.array(start, { maxLength: 14 });

/** The loads of all clusters that have limits, the fullest first, and pods where none is known. */
function imbalance(stored: Stored, all: readonly Room[], of: readonly Start[]): number[] {
  const now = loads(stored, of);
  const at = (i: number) => now.get(names[i] ?? '') ?? { cpu: 0, memory: 0, pods: 0 };
  const down = (values: number[]) => values.sort((a, b) => b - a);
  return [
    ...down(all.flatMap((one, i) => (one ? [100 - free(one, at(i))] : []))),
    ...down(all.flatMap((one, i) => (one ? [] : [at(i).pods]))),
  ];
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  const i = a.findIndex((value, at) => Math.abs(value - (b[at] ?? 0)) > 1e-6);
  return i >= 0 && (a[i] ?? 0) < (b[i] ?? 0);
}

/** Moves that are left, by the book; what has moved once, or has no room there, is none. */
function improving(
  stored: Stored,
  all: readonly Room[],
  of: readonly Start[],
  but: ReadonlySet<string>,
): string[] {
  const now = loads(stored, of);
  const zero = { cpu: 0, memory: 0, pods: 0 };
  return [...where(stored)].flatMap(([namespace, from]) => {
    const need = of[Number(namespace.slice(1))];
    if (!need || but.has(namespace)) return [];
    const [source, here] = [all[names.indexOf(from)], now.get(from) ?? zero];
    const without = { cpu: here.cpu - need.cpu, memory: here.memory - need.memory };
    return all.flatMap((target, i) => {
      const to = names[i] ?? '';
      if (to === from) return [];
      const there = now.get(to) ?? zero;
      const after = { cpu: there.cpu + need.cpu, memory: there.memory + need.memory };
      const fits =
        !target ||
        ((need.cpu === 0 || after.cpu <= target.cpu) && (need.memory === 0 || after.memory <= target.memory));
      const pods = there.pods + 1 <= here.pods * 0.8 && here.pods - there.pods - 1 >= 2;
      const helps = free(source, without) > free(source, here) + 1e-6;
      const gains = helps && free(target, after) - free(source, here) >= marginPoints;
      return fits && (source || target ? gains : pods) ? [`${namespace} from ${from} to ${to}`] : [];
    });
  });
}

const examples = { numRuns: 150 };

test('it ends, whoever rebalances: nothing moves twice within the hour, and no improving move is left', () => {
  let count = 0;
  fc.assert(
    fc.property(rooms, starts, fc.integer({ min: 1, max: 3 }), (all, of, drainConcurrent) => {
      const stored = begun(all, of);
      clusters(stored, all, () => ({ rebalance: true, drainConcurrent }));
      const moves = run(stored);
      const moved = moves.map(({ namespace }) => namespace);
      expect(new Set(moved).size).toBe(moved.length);
      expect(improving(stored, all, of, new Set(moved))).toEqual([]);
      count += moves.length;
    }),
    examples,
  );
  expect(count).toBeGreaterThan(100);
});

test('each move makes the imbalance less, so that there is no to and fro, however often what moved has rested', () => {
  let count = 0;
  fc.assert(
    fc.property(rooms, starts, (all, of) => {
      const stored = begun(all, of);
      const seen: number[][] = [imbalance(stored, all, of)];
      const decide = stored.decide.bind(stored);
      clusters(stored, all, () => ({ rebalance: true }));
      stored.decide = () => {
        const before = where(stored);
        decide();
        if ([...where(stored)].every(([namespace, on]) => before.get(namespace) === on)) return;
        const now = imbalance(stored, all, of);
        expect(isLess(now, seen.at(-1) ?? [])).toBe(true);
        seen.push(now);
      };
      const moves = run(stored, 2);
      count += moves.length;
      expect(improving(stored, all, of, new Set())).toEqual([]);
    }),
    examples,
  );
  expect(count).toBeGreaterThan(100);
});

test('a plan is what a rebalance of one cluster then does', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(rooms, starts, async (all, given) => {
      // Of one resource: where something else is scarce once others have left, it matters who is asked first.
      const of = given.map((one) => ({ ...one, memory: 0 }));
      const stored = begun(all, of);
      clusters(stored, all, (name) => ({ rebalance: name === 'a' }));
      const object = stored
        .list('physicalclusters')
        .find(({ metadata }) => metadata.name === 'a') as PhysicalCluster;
      const items = await planOf(worldOf(stored.of), [{ resource: physical, object: object as KubeObject }], {
        countsOf,
      });
      const planned = items.filter(({ outcome }) => outcome === 'moves');
      const moves = run(stored);
      expect(planned.map(({ namespace, to }) => [namespace, to.join()]).sort()).toEqual(
        moves.map(({ namespace, to }) => [namespace, to]).sort(),
      );
      count += moves.length;
    }),
    examples,
  );
  expect(count).toBeGreaterThan(20);
});
