import { describe, expect, it } from 'vitest';
import type { Handlers } from '../../../../client/cache.ts';
import type { Placement, Share } from '../../../../cluster/types.ts';
import { handoverSince, PlacementMetrics } from '../../../../server/metrics/placements.ts';

const time = '2026-01-01T00:00:00Z';
const at = Date.parse(time);

function placement(clusters: string[], shares: Record<string, Share>, state: string): Placement {
  const condition = { message: '', lastTransitionTime: time };
  const settled = state === 'Settled';
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'p', creationTimestamp: time },
    spec: {
      ref: { group: '', version: 'v1', resource: 'pods', kind: 'Pod', name: 'p', uid: 'u' },
      clusters,
      shares,
    },
    status: {
      conditions: [{ type: 'Settled', status: settled ? 'True' : 'False', reason: state, ...condition }],
    },
  };
}

const held = { phase: 'Active', held: { since: time } } as const;

describe('a hand-over', () => {
  it.each<[string, Placement, number | undefined]>([
    ['settled', placement(['a'], { a: { phase: 'Active' } }, 'Settled'), undefined],
    ['its first place', placement(['a'], { a: { phase: 'Joining' } }, 'Joining'), undefined],
    ['from b to a', placement(['a'], { a: { phase: 'Joining' }, b: { phase: 'Active' } }, 'Joining'), at],
    ['the last of it', placement(['a'], { a: { phase: 'Active' }, b: { phase: 'Leaving' } }, 'Leaving'), at],
    ['what may not run twice', placement(['a'], { a: held }, 'Joining'), at],
    ['deleted', placement(['a'], { b: { phase: 'Leaving' } }, 'Deleted'), undefined],
    ['nothing fits', placement([], { b: { phase: 'Active' } }, 'NoClusterFits'), undefined],
  ])('%s', (_, given, since) => expect(handoverSince(given)).toBe(since));
});

it('placements are counted as they come, change and go', () => {
  const metrics = new PlacementMetrics();
  let told: Handlers<Placement> = {};
  const value = (name: string, label?: string) =>
    metrics
      .families(at + 5_000)
      .find(({ definition }) => definition.name === name)
      ?.figures.find(({ labels }) => labels[0] === label)?.value;
  expect(value('atoll_handovers')).toBeUndefined();
  const end = metrics.follow({
    on: (handlers) => {
      told = handlers;
      return () => undefined;
    },
  });
  const first = placement(['a'], { a: { phase: 'Active' } }, 'Settled');
  const moving = placement(['b'], { a: { phase: 'Active' }, b: { phase: 'Joining' } }, 'Joining');
  told.add?.(first, 'k');
  expect([value('atoll_placements', 'Settled'), value('atoll_placement_shares', 'Active')]).toEqual([1, 1]);
  told.update?.(moving, first, 'k');
  expect([value('atoll_placements', 'Settled'), value('atoll_placements', 'Joining')]).toEqual([0, 1]);
  expect([value('atoll_handovers'), value('atoll_handover_oldest_seconds')]).toEqual([1, 5]);
  told.delete?.(moving, 'k');
  expect([value('atoll_handovers'), value('atoll_handover_oldest_seconds')]).toEqual([0, 0]);
  expect(value('atoll_placement_shares', 'Joining')).toBe(0);
  end();
  expect(value('atoll_handovers')).toBeUndefined();
});
