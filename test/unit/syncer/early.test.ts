import { expect, test } from 'vitest';
import type { Informer } from '../../../client/informer.ts';
import type { ShareView } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isEarly } from '../../../syncer/early.ts';
import type { TargetRecord } from '../../../syncer/records.ts';

const share = { spec: { manifest: { kind: 'ResourceQuota' } } } as unknown as ShareView;
const quota = (hard: object, counted?: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard },
  ...(counted && { status: { hard: counted } }),
});

function engineWith(there: KubeObject | undefined, known = [share]) {
  const shares = { byIndex: () => known } as unknown as Informer<ShareView>;
  return { shares, physical: { cached: () => there } };
}

const needing = (...requires: string[]) => ({ requires }) as Pick<TargetRecord, 'requires' | 'early'>;

test.each<[string, KubeObject | undefined, boolean]>([
  ['counted', quota({ pods: '2' }, { pods: '2' }), true],
  ['written otherwise', quota({ pods: '2k' }, { pods: '2000' }), true],
  ['not counted', quota({ pods: '2' }), false],
  ['counted as it was before', quota({ pods: '2' }, { pods: '5' }), false],
  ['written, and not seen there yet', undefined, false],
])('a workload comes when its quota is %s', (_what, there, comes) => {
  expect(isEarly(engineWith(there), needing('resourcequotas/n/q'), false)).toBe(!comes);
});

test('what runs there is not held up, nor what has no quota', () => {
  expect(isEarly(engineWith(undefined), needing('resourcequotas/n/q'), true)).toBe(false);
  expect(isEarly(engineWith(undefined), needing('configmaps/n/q'), false)).toBe(false);
});

test('what it requires and is not in the view yet is waited for, of whatever kind', () => {
  const record = needing('configmaps/n/q');
  const at = (now: number) => isEarly(engineWith(undefined, []), record, false, now);
  expect([0, 19_999, 20_000].map(at)).toEqual([true, true, false]);
  expect(isEarly(engineWith(undefined, []), record, true)).toBe(false);
});

test('a cluster that never counts is waited for for twenty seconds, however often it is asked', () => {
  const record = needing('resourcequotas/n/q');
  const at = (now: number) => isEarly(engineWith(quota({ pods: '2' })), record, false, now);
  expect([0, 1, 2, 19_999, 20_000].map(at)).toEqual([true, true, true, true, false]);
});

test('what was counted once is waited for anew', () => {
  const record = needing('resourcequotas/n/q');
  const counted = quota({ pods: '2' }, { pods: '2' });
  expect(isEarly(engineWith(undefined), record, false, 0)).toBe(true);
  expect(isEarly(engineWith(counted), record, false, 1)).toBe(false);
  expect(isEarly(engineWith(undefined), record, false, 30_000)).toBe(true);
});

test('a quota that could not be applied for long is waited for, once it is there, until it is counted', () => {
  const record = needing('resourcequotas/n/q');
  expect(isEarly(engineWith(undefined, []), record, false, 0)).toBe(true);
  expect(isEarly(engineWith(undefined, []), record, false, 40_000)).toBe(false);
  expect(isEarly(engineWith(quota({ pods: '2' })), record, false, 40_001)).toBe(true);
  expect(isEarly(engineWith(quota({ pods: '2' })), record, false, 60_001)).toBe(false);
});
