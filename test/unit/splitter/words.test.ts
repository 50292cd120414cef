import { expect, test } from 'vitest';
import type { Placement, Share } from '../../../cluster/types.ts';
import { notHeld } from '../../../splitter/handover.ts';
import { wordsOf } from '../../../splitter/words.ts';

const active: Share = { phase: 'Active', replicas: 3 };
const joining: Share = { phase: 'Joining', replicas: 1 };
const placement: Placement = {
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'Placement',
  metadata: { name: 'db.statefulsets.apps' },
  spec: {
    ref: {
      group: 'apps',
      version: 'v1',
      resource: 'statefulsets',
      kind: 'StatefulSet',
      name: 'db',
      uid: 'u',
    },
    clusters: ['west'],
    shares: { east: active },
  },
};

test.each([
  ['may run twice', false, 'west 0/1; until it is ready, east stays as it is'],
  [
    'may not run twice',
    true,
    'west 0/1; it may not run twice, so each replica stops on east before it starts elsewhere',
  ],
])('of what moves, and %s, it is told what is where meanwhile', (_, once, message) => {
  const words = wordsOf(placement, { east: active, west: joining }, notHeld, undefined, once);
  expect(words).toEqual([{ type: 'Normal', reason: 'Joining', message }]);
});
