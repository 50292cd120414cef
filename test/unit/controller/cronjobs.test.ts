import { expect, test } from 'vitest';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { historyOf } from '../../../controller/cronjobs/decide.ts';
import type { KubeObject } from '../../../kube/object.ts';

const cronJob: KubeObject = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c', uid: 'c' },
  spec: { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 1 },
};
const minute = (n: number) => `2026-01-01T00:${String(n).padStart(2, '0')}:00Z`;

function job(name: string, start: number, type?: string, cluster?: string): KubeObject {
  const isOver = type !== undefined;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, uid: name, ...(cluster && { annotations: reflectedAs({}, name, [cluster]) }) },
    status: {
      startTime: minute(start),
      ...(type === 'Complete' && { completionTime: minute(start + 1) }),
      ...(isOver && { conditions: [{ type, status: 'True' }] }),
    },
  };
}
const over = (...jobs: KubeObject[]) => historyOf(cronJob, jobs).over.map(({ metadata }) => metadata.name);

test('the oldest that ended go, each kind of end by its own limit', () => {
  const [running, failed] = [job('r', 0), job('f', 1, 'Failed')];
  expect(over(job('c', 4, 'Complete'), running, job('a', 2, 'Complete'), failed)).toEqual([]);
  expect(over(job('c', 4, 'Complete'), job('a', 2, 'Complete'), job('b', 3, 'Complete'))).toEqual(['a']);
  expect(over(failed, job('g', 2, 'Failed'))).toEqual(['f']);
});

test('what is shown from where it runs counts, and stays', () => {
  const there = [job('a', 1, 'Complete', 'east'), job('b', 3, 'Complete', 'east')];
  expect(over(...there, job('x', 2, 'Complete'))).toEqual([]);
  expect(over(...there, job('x', 2, 'Complete'), job('y', 5, 'Complete'))).toEqual(['x']);
  expect(over(...there, job('x', 0, 'Complete'))).toEqual(['x']);
});

test('what is kept without a limit stays', () => {
  const jobs = [1, 2, 3, 4].map((n) => job(`j${n}`, n, 'Complete'));
  expect(historyOf({ ...cronJob, spec: {} }, jobs).over).toEqual([]);
});

test('it succeeded when the last of those did that were made here', () => {
  const jobs = [job('a', 1, 'Complete'), job('b', 3, 'Complete'), job('f', 9, 'Failed')];
  expect(historyOf(cronJob, [...jobs, job('e', 20, 'Complete', 'east')]).succeeded).toBe(minute(4));
  expect(historyOf(cronJob, [job('r', 1)]).succeeded).toBeUndefined();
});
