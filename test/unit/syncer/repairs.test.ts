import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { fingerprint, manifestDigest, newRecord } from '../../../syncer/records.ts';
import { noteWritten, paceDelay, repairDelay } from '../../../syncer/repairs.ts';

const manifest: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  data: { a: '1' },
};
const there: KubeObject = { ...manifest, metadata: { name: 'c', uid: 'u' } };
const changed: KubeObject = { ...there, data: { a: '2' } };

function written() {
  const record = newRecord();
  record.manifest = manifestDigest(manifest);
  record.fingerprint = fingerprint(there, manifest);
  record.applied = { uid: 'u', physicalGeneration: 0, generation: 1, share: {} };
  return record;
}

test('each repair that was written is followed by a longer pause, up to a minute', () => {
  const record = written();
  let now = 1_000_000;
  const pauses = Array.from({ length: 12 }, () => {
    expect(repairDelay(record, changed, manifest, now)).toBe(0);
    noteWritten(record, manifestDigest(manifest), now);
    const pause = repairDelay(record, changed, manifest, now);
    expect(repairDelay(record, undefined, manifest, now), 'nor is it made again sooner').toBe(pause);
    expect(repairDelay(record, there, manifest, now), 'what is as it should be waits for nothing').toBe(0);
    now += pause;
    return pause;
  });
  expect(pauses).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000, 60_000]);
});

test('an attempt that wrote nothing is none', () => {
  const record = written();
  for (let tries = 0; tries < 20; tries++) expect(repairDelay(record, changed, manifest, 1000)).toBe(0);
  noteWritten(record, manifestDigest(manifest), 1000);
  expect(repairDelay(record, changed, manifest, 1000)).toBe(200);
});

test('after five quiet minutes, and after another manifest, the next is the first', () => {
  const record = written();
  for (let times = 0; times < 8; times++) noteWritten(record, manifestDigest(manifest), 0);
  expect(repairDelay(record, changed, manifest, 0)).toBe(25_600);
  noteWritten(record, manifestDigest(manifest), 325_600);
  expect(repairDelay(record, changed, manifest, 325_600)).toBe(200);
  noteWritten(record, 'another', 325_600);
  expect(record.repairs).toBe(0);
});

test('what changes with every pod elsewhere is written at once, and then not sooner than after a while', () => {
  const record = newRecord();
  expect(paceDelay(record, 1000)).toBe(0);
  noteWritten(record, manifestDigest(manifest), 1000);
  expect([1000, 1100, 1250, 9000].map((now) => paceDelay(record, now))).toEqual([250, 150, 0, 0]);
});
