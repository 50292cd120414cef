import { expect, test } from 'vitest';
import { isToBeMade } from '../../../cluster/awaited-revision.ts';
import type { Placement } from '../../../cluster/types.ts';

const workload = (spec: object = {}, metadata: object = {}, kind = 'Deployment') => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web', uid: 'a', ...metadata },
  spec: { template: {}, ...spec },
});
const placed = (shares: object | undefined, uid = 'a') =>
  ({ spec: { ref: { uid }, clusters: [], shares } }) as unknown as Placement;
const onEast = placed({ east: { phase: 'Active' } });

test.each([
  ['a Deployment', workload(), onEast, true],
  ['a StatefulSet', workload({}, {}, 'StatefulSet'), onEast, true],
  ['being deleted', workload({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), onEast, false],
  ['paused', workload({ paused: true }), onEast, false],
  ['placed nowhere', workload(), placed({}), false],
  ['not placed yet', workload(), undefined, false],
  ['a former one of its name was placed', workload(), placed({ east: {} }, 'b'), false],
])('%s', (_what, object, placement, expected) => {
  expect(isToBeMade(object, placement)).toBe(expected);
});
