import { expect, test } from 'vitest';
import type { Informer } from '../../../client/informer.ts';
import type { ShareView } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isBounded } from '../../../syncer/bounded.ts';
import type { TargetRecord } from '../../../syncer/records.ts';

const share = { spec: { manifest: { kind: 'ResourceQuota' } } } as unknown as ShareView;
const quota = (hard: object, counted?: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard },
  ...(counted && { status: { hard: counted } }),
});

function engineWith(there: KubeObject | undefined) {
  const shares = { byIndex: () => [share] } as unknown as Informer<ShareView>;
  return { shares, physical: { cached: () => there } };
}

const needing = (...requires: string[]) =>
  ({ requires }) as Pick<TargetRecord, 'requires' | 'uncountedSince'>;

test.each<[string, KubeObject | undefined, boolean]>([
  ['counted', quota({ pods: '2' }, { pods: '2' }), true],
  ['written otherwise', quota({ pods: '2k' }, { pods: '2000' }), true],
  ['not counted', quota({ pods: '2' }), false],
  ['counted as it was before', quota({ pods: '2' }, { pods: '5' }), false],
  ['written, and not seen there yet', undefined, false],
])('a workload comes when its quota is %s', (_what, there, comes) => {
  expect(isBounded(engineWith(there), needing('resourcequotas/n/q'), false)).toBe(comes);
});

test('what runs there is not held up, nor what has no quota', () => {
  expect(isBounded(engineWith(undefined), needing('resourcequotas/n/q'), true)).toBe(true);
  expect(isBounded(engineWith(undefined), needing('configmaps/n/q'), false)).toBe(true);
});

test('a cluster that never counts is waited for for twenty seconds, however often it is asked', () => {
  const record = needing('resourcequotas/n/q');
  const at = (now: number) => isBounded(engineWith(quota({ pods: '2' })), record, false, now);
  expect([0, 1, 2, 19_999, 20_000].map(at)).toEqual([false, false, false, false, true]);
});

test('what was counted once is waited for anew', () => {
  const record = needing('resourcequotas/n/q');
  const counted = quota({ pods: '2' }, { pods: '2' });
  expect(isBounded(engineWith(undefined), record, false, 0)).toBe(false);
  expect(isBounded(engineWith(counted), record, false, 1)).toBe(true);
  expect(isBounded(engineWith(undefined), record, false, 30_000)).toBe(false);
});
