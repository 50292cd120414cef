import { expect, it } from 'vitest';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { expiryOf } from '../../../controller/ttl/decide.ts';
import type { KubeObject } from '../../../kube/object.ts';

const at = '2026-01-02T03:04:05Z';
const ended = (type: string, more = {}) => ({
  conditions: [{ type, status: 'True', lastTransitionTime: at, ...more }],
});
const job = (spec: object, status: object, metadata = {}): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j', namespace: 'x', ...metadata },
  spec,
  status,
});
const after = (seconds: number) => Date.parse(at) + seconds * 1000;
const soon = { ttlSecondsAfterFinished: 5 };

it.each<[string, KubeObject, number | undefined]>([
  ['complete', job(soon, ended('Complete')), after(5)],
  ['failed', job(soon, ended('Failed')), after(5)],
  ['at once', job({ ttlSecondsAfterFinished: 0 }, ended('Complete')), after(0)],
  ['without a time', job({}, ended('Complete')), undefined],
  ['running', job(soon, {}), undefined],
  ['not over yet', job(soon, ended('SuccessCriteriaMet')), undefined],
  ['not true', job(soon, ended('Complete', { status: 'False' })), undefined],
  ['since nobody knows when', job(soon, ended('Complete', { lastTransitionTime: 'x' })), undefined],
  ['going', job(soon, ended('Complete'), { deletionTimestamp: at }), undefined],
])('a Job that is %s', (_, given, expiry) => {
  expect(expiryOf(given)).toBe(expiry);
});

it('one that is shown from where it runs is taken away there', () => {
  const annotations = reflectedAs(undefined, 'u', ['east']);
  expect(expiryOf(job(soon, ended('Complete'), { uid: 'u', annotations }))).toBeUndefined();
});
