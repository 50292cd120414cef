import { expect, test } from 'vitest';
import { Unplaced } from '../../../syncer/unplaced.ts';

const target = 'deployments.apps/shop/web';
const pod = (message?: string, nodeName?: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-1' },
  spec: { ...(nodeName && { nodeName }) },
  status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] },
});

test('why a pod has no node is told of its workload, until each has one', () => {
  const unplaced = new Unplaced();
  expect(unplaced.at('shop/web-1', target, pod())).toEqual([]);
  expect(unplaced.at('shop/web-1', target, pod('0/2 nodes are available'))).toEqual([target]);
  expect(unplaced.at('shop/web-2', target, pod('0/2 nodes are available'))).toEqual([]);
  expect(unplaced.why(target)).toBe('0/2 nodes are available');
  expect(unplaced.at('shop/web-1', target, pod('0/2 nodes are available', 'node-1'))).toEqual([]);
  expect(unplaced.at('shop/web-2', undefined, undefined)).toEqual([target]);
  expect(unplaced.why(target)).toBeUndefined();
});

test('what differs in numbers alone is not told anew, a pod that is adopted is the other one\u2019s', () => {
  const unplaced = new Unplaced();
  unplaced.at('shop/web-1', target, pod('0/2 nodes are available'));
  expect(unplaced.at('shop/web-1', target, pod('0/3 nodes are available'))).toEqual([]);
  expect(unplaced.at('shop/web-1', target, pod('gated'))).toEqual([target]);
  const other = 'deployments.apps/shop/other';
  expect(unplaced.at('shop/web-1', other, pod('gated'))).toEqual([target, other]);
  expect(unplaced.why(target)).toBeUndefined();
});
