import { expect, test } from 'vitest';
import { storageObjects, withEndings } from '../../kubernetes/kwok.ts';

const stage = (name: string) => `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: ${name}
spec:
  selector:
    matchExpressions:
    - key: '.status.phase'
      operator: 'In'
      values:
      - 'Running'
  next:
    statusTemplate: |
      exitCode: 0
      reason: Completed
      phase: Succeeded`;

test('pods of Jobs end well or fail by what they are to run, and all else is as it was', () => {
  const [first, ends, fails, last, ...none] = withEndings(
    ['a', 'pod-complete', 'b'].map(stage).join('\n---\n'),
  ).split('\n---\n');
  expect([first, last, none]).toEqual([stage('a'), stage('b'), []]);
  expect(ends).toContain('name: pod-complete');
  expect(ends).toContain("- 'ends'\n  next:");
  expect(ends).toContain('exitCode: 0');
  expect(fails).toContain('name: pod-fail');
  expect(fails).toContain("- 'fails'\n  next:");
  for (const said of ['exitCode: 1', 'reason: Error', 'phase: Failed']) expect(fails).toContain(said);
});

test('stages without that one are not what is meant', () => {
  expect(() => withEndings(stage('a'))).toThrow('no stage is named pod-complete');
});

test('a default class has as many volumes as are asked for', () => {
  const kinds = (text: string) => text.split('\n---\n').map((one) => JSON.parse(one).kind);
  expect(kinds(storageObjects(2))).toEqual(['StorageClass', 'PersistentVolume', 'PersistentVolume']);
  expect(kinds(storageObjects(0))).toEqual(['StorageClass']);
});
