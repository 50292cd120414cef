import { expect, test } from 'vitest';
import {
  heartbeatsAnnotation,
  heartbeatsIn,
  heartbeatsText,
  withHeartbeat,
} from '../../../cluster/heartbeats.ts';
import type { PhysicalCluster, PhysicalClusterStatus } from '../../../cluster/types.ts';

const lease = (text?: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'one', ...(text !== undefined && { annotations: { [heartbeatsAnnotation]: text } }) },
});
const at = Date.parse('2026-11-28T10:00:00.250Z');

test('what is written is what is read', () => {
  const times = new Map([
    ['east', at],
    ['west', at + 5_000],
  ]);
  expect(heartbeatsIn(lease(heartbeatsText(times)))).toEqual(times);
});

test.each([undefined, '', 'no', '[]', '"2026-11-28T10:00:00Z"', '{"east":"soon","west":{}}'])(
  '%s says nothing of any cluster',
  (text) => {
    expect(heartbeatsIn(lease(text)).size).toBe(0);
  },
);

const cluster = (status?: PhysicalClusterStatus): PhysicalCluster => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east' },
  ...(status && { status }),
});

test('of what a cluster says by itself and with others the later counts', () => {
  const before = cluster({
    lastHeartbeatTime: '2026-11-28T09:59:00Z',
    lastAnswerTime: '2026-11-28T09:59:00Z',
  });
  expect(withHeartbeat(before, at).status).toEqual({
    lastHeartbeatTime: '2026-11-28T10:00:00.250Z',
    lastAnswerTime: '2026-11-28T10:00:00Z',
  });
  const later = cluster({ lastHeartbeatTime: '2026-11-28T10:00:01Z' });
  expect(withHeartbeat(later, at)).toBe(later);
  expect(withHeartbeat(later, undefined)).toBe(later);
  expect(withHeartbeat(cluster(), at).status?.lastHeartbeatTime).toBe('2026-11-28T10:00:00.250Z');
});

test('what was said of one of its name that was there before says nothing of it', () => {
  const anew = { ...cluster(), metadata: { name: 'east', creationTimestamp: '2026-11-28T10:00:10Z' } };
  expect(withHeartbeat(anew, at)).toBe(anew);
  expect(withHeartbeat(anew, at + 10_000).status?.lastHeartbeatTime).toBe('2026-11-28T10:00:10.250Z');
});
