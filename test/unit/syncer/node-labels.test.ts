import { expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { NodeLabels, nodeLabels } from '../../../syncer/node-labels.ts';

let version = 0;
const node = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels, resourceVersion: `${++version}` },
});

test('each label is told once, each name, and what some have not', () => {
  expect(nodeLabels([node('b', { disk: 'ssd', zone: '1' }), node('a', { disk: 'ssd' })])).toEqual([
    '!zone',
    'disk=ssd',
    'metadata.name=a',
    'metadata.name=b',
    'zone=1',
  ]);
  expect(nodeLabels([])).toEqual([]);
});

test('of thousands of nodes the keys with the most values are told without these', () => {
  const nodes = Array.from({ length: 5_000 }, (_, i) =>
    node(`node-${i}`, { disk: i % 2 ? 'ssd' : 'hdd', 'kubernetes.io/hostname': `node-${i}` }),
  );
  expect(nodeLabels(nodes)).toEqual(['disk=hdd', 'disk=ssd', 'kubernetes.io/hostname=*', 'metadata.name=*']);
});

test('of thousands of keys some are told, and that there are more', () => {
  const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key-${i}`, 'yes']));
  const told = nodeLabels([node('a', labels)]);
  expect(told.at(-1)).toBe('*');
  expect(told.length).toBeLessThanOrEqual(501);
  expect(JSON.stringify(told).length).toBeLessThan(17 << 10);
});

test('they are put together anew when one changes, and only then', () => {
  const cache = new Cache<KubeObject>((error) => {
    throw error;
  });
  let hasSynced = false;
  const labels = new NodeLabels({
    get hasSynced() {
      return hasSynced;
    },
    values: () => cache.values(),
    on: (handlers) => cache.on(handlers),
  });
  cache.put(node('a', { disk: 'ssd' }));
  expect(labels.now()).toBeUndefined();
  hasSynced = true;
  const first = labels.now();
  expect(first).toEqual(['disk=ssd', 'metadata.name=a']);
  cache.put(node('a', { disk: 'ssd' }));
  expect(labels.now()).toBe(first);
  cache.put(node('a', { disk: 'hdd' }));
  expect(labels.now()).toEqual(['disk=hdd', 'metadata.name=a']);
  cache.put(node('b'));
  expect(labels.now()).toContain('metadata.name=b');
});
