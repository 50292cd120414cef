import { expect, test } from 'vitest';
import type { Node } from '../../../controller/gc/graph.ts';
import { aboutNode, wordOfMisplaced } from '../../../controller/gc/misplaced.ts';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' };

function node(fields: Partial<Node>): Node {
  const resource = {
    group: '',
    version: 'v1',
    resource: 'secrets',
    kind: 'Secret',
    namespaced: true,
    verbs: [],
  };
  const none = { owners: [], finalizers: [], deleting: false, reflected: false };
  return {
    uid: 'n',
    resource,
    kind: 'Secret',
    cluster: 'root',
    namespace: 'x',
    name: 'n',
    ...none,
    ...fields,
  };
}

const elsewhere =
  'ownerRef [v1/ConfigMap, namespace: x, name: owner, uid: u] does not exist in namespace "x"';

test.each<[string, Partial<Node>, Partial<Node> | undefined, string | undefined]>([
  ['in another namespace', { owners: [owner] }, { namespace: 'y' }, elsewhere],
  ['in its own', { owners: [owner] }, { namespace: 'x' }, undefined],
  ['in none', { owners: [owner] }, { namespace: '' }, undefined],
  ['that nobody knows', { owners: [owner] }, undefined, undefined],
  ['of another logical cluster', { owners: [owner] }, { namespace: 'y', cluster: 'other' }, undefined],
  [
    'of what is in no namespace',
    { owners: [owner], namespace: '' },
    { namespace: 'y' },
    'ownerRef [v1/ConfigMap, namespace: , name: owner, uid: u] does not exist in namespace ""',
  ],
])('an owner %s', (_, dependent, known, message) => {
  const word = wordOfMisplaced(node(dependent), [], () => known && node(known));
  expect(word?.message).toBe(message);
});

test('is told of once', () => {
  expect(wordOfMisplaced(node({ owners: [owner] }), [owner], () => node({ namespace: 'y' }))).toBeUndefined();
});

test('an object of plain Kubernetes is in no logical cluster', () => {
  expect(aboutNode(node({ cluster: undefined }))).toEqual({
    group: '',
    version: 'v1',
    kind: 'Secret',
    namespace: 'x',
    name: 'n',
    uid: 'n',
  });
});
