import { describe, expect, test } from 'vitest';
import { fullBucket, rateOf, refill, take, waitOf } from '../../../../apiserver/limits/bucket.ts';
import { Flows } from '../../../../apiserver/limits/flows.ts';
import { Tree } from '../../../../apiserver/limits/tree.ts';

describe('a bucket', () => {
  test('is full at first, and fills as time goes by, no further than a burst', () => {
    const bounds = { requestsPerSecond: 2, requestBurst: 5 };
    const bucket = fullBucket(bounds, 0);
    expect(refill(bucket, bounds, 0)).toBe(5);
    take(bucket, 5, 0);
    expect([refill(bucket, bounds, 400), waitOf(bucket, bounds)]).toEqual([0, 1]);
    expect(refill(bucket, bounds, 500)).toBe(1);
    expect(refill(bucket, bounds, 60_000)).toBe(5);
  });

  test('that is slow says for how long to wait', () => {
    const bounds = { requestsPerSecond: 1, requestBurst: 1 };
    const bucket = fullBucket(bounds, 0);
    take(bucket, 3, 0);
    expect(waitOf(bucket, bounds)).toBe(3);
  });

  test('knows what was taken in the second before', () => {
    const bucket = fullBucket({ requestsPerSecond: 100 }, 0);
    take(bucket, 3, 900);
    take(bucket, 4, 1100);
    expect([rateOf(bucket, 1200), rateOf(bucket, 2000), rateOf(bucket, 9000)]).toEqual([3, 4, 0]);
  });
});

describe('requests below each other', () => {
  test('take from all above; who was refused by one takes from none', () => {
    const tree = new Tree();
    const put = (parent: string, name: string, cluster: string, requestsPerSecond: number) =>
      tree.put(`/tenancy.kcp.io/workspaces/${parent}/${name}`, {
        kind: 'Workspace',
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        metadata: { name },
        spec: { cluster, limits: { requestsPerSecond, requestBurst: requestsPerSecond } },
      });
    put('root', 'a', 'ida', 3);
    put('ida', 'b', 'idb', 2);
    put('ida', 'c', 'idc', 9);
    const flows = new Flows(tree, () => 0);
    expect(flows.requests('idb', 5)).toEqual({ granted: 2 });
    expect(flows.requests('idb', 1).refused).toBe(
      'exceeded limits of logical cluster root:a:b, limited: requestsPerSecond=2',
    );
    expect(flows.requests('idc', 5)).toEqual({ granted: 1 });
    expect(flows.requests('idc', 5).refused).toBe(
      'exceeded limits of logical cluster root:a, limited: requestsPerSecond=3',
    );
  });
});
