import { expect, test } from 'vitest';
import type { ShareView } from '../../../cluster/types.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { leave } from '../../../syncer/leave.ts';
import { parseTarget, targetOf } from '../../../syncer/target.ts';

const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'u',
};
const share = {
  metadata: { name: 'web', namespace: 'n', uid: 'p' },
  spec: { ref, physicalNamespace: 'n', share: { phase: 'Leaving' }, moved: true },
} as unknown as ShareView;
const id = targetOf(share);

test.each([
  ['is watched, is asked once', true, 1],
  ['is not watched, as nothing of it was there at the start, is asked each time', false, 3],
])('that something is gone whose pods run on, of a kind that %s', async (_what, isWatched, times) => {
  let reads = 0;
  const physical = {
    cached: () => undefined,
    isWatched: () => isWatched,
    read: async () => {
      reads += 1;
      return undefined;
    },
  };
  const shares = { byIndex: () => [share] };
  const engine = { shares, records: new Map(), physical, hasPods: () => true } as unknown as Engine;
  for (let look = 0; look < 3; look += 1)
    expect(await leave(engine, id, parseTarget(id, ref))).toMatchObject({ gone: false });
  expect(reads).toBe(times);
});
