import { expect, test } from 'vitest';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { isOver } from '../../../controller/ttl/events.ts';
import type { KubeObject } from '../../../kube/object.ts';

const event = (more: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', namespace: 'x', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
  ...more,
});
const now = Date.parse('2026-01-01T02:00:00Z');
const late = '2026-01-01T01:30:00Z';

test.each<[string, KubeObject, boolean]>([
  ['was made long ago', event({}), true],
  ['was made of late', event({}, { creationTimestamp: late }), false],
  ['was made an hour ago', event({}, { creationTimestamp: '2026-01-01T01:00:00Z' }), true],
  ['was said again', event({ lastTimestamp: late }), false],
  ['was said again long ago', event({ lastTimestamp: '2026-01-01T00:10:00Z' }), true],
  [
    'is one of a series',
    event({ eventTime: '2025-01-01T00:00:00.000000Z', series: { lastObservedTime: late } }),
    false,
  ],
  ['was written by somebody', event({}, { managedFields: [{ time: late }] }), false],
  ['is of a time to come', event({ lastTimestamp: '2027-01-01T00:00:00Z' }), true],
  ['says nothing of time', event({}, { creationTimestamp: undefined }), false],
  ['is a cluster’s', event({}, { uid: 'u', annotations: reflectedAs({}, 'u', ['east']) }), false],
])('an Event that %s', (_, given, over) => {
  expect(isOver(given, now)).toBe(over);
});
