import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { toNote } from '../../../syncer/cron.ts';

const cron = (spec: object, status: object = {}, kind = 'CronJob'): KubeObject => ({
  apiVersion: 'batch/v1',
  kind,
  metadata: { name: 'nightly', creationTimestamp: '2030-01-01T12:00:00Z' },
  spec,
  status,
});
const ran = '2030-01-05T03:00:00Z';

test.each<[string, KubeObject, KubeObject, string | undefined, string | undefined]>([
  ['it waited, and never ran there', cron({}), cron({ suspend: true }), ran, ran],
  ['it ran there before', cron({}), cron({}, { lastScheduleTime: '2030-01-02T03:00:00Z' }), ran, ran],
  ['it knows', cron({}), cron({}, { lastScheduleTime: ran }), ran, undefined],
  ['it ran there since', cron({}), cron({}, { lastScheduleTime: '2030-01-06T03:00:00Z' }), ran, undefined],
  ['it was made there since', cron({}), cron({}), '2030-01-01T03:00:00Z', undefined],
  ['its user has it wait', cron({ suspend: true }), cron({ suspend: true }), ran, undefined],
  ['none was started anywhere', cron({}), cron({ suspend: true }), undefined, undefined],
  ['it is a Job', cron({}, {}, 'Job'), cron({}, {}, 'Job'), ran, undefined],
])('of what was due: %s', (_what, manifest, there, ranAt, expected) => {
  expect(toNote(manifest, there, ranAt)).toBe(expected);
});
