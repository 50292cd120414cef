import { expect, test } from 'vitest';
import { Tree } from '../../../../apiserver/limits/tree.ts';

const key = (parent: string, name: string) => `/tenancy.kcp.io/workspaces/${parent}/${name}`;
const workspace = (cluster: string | undefined, limits?: object) => ({
  kind: 'Workspace',
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  metadata: {},
  spec: { ...(cluster !== undefined && { cluster }), ...(limits && { limits }) },
});

test('what nothing bounds has nobody above it to ask', () => {
  const tree = new Tree();
  tree.put(key('root', 'a'), workspace('ida'));
  expect([tree.chain('ida'), tree.chain('root'), tree.chain('*'), tree.chain('')]).toEqual([[], [], [], []]);
});

test('each that is bounded counts, itself first, by what its Workspace says now', () => {
  const tree = new Tree();
  tree.put(key('root', 'a'), workspace('ida', { objects: 10, bytes: '1Ki' }));
  tree.put(key('ida', 'b'), workspace('idb'));
  tree.put(key('idb', 'c'), workspace('idc', { objects: 5 }));
  const a = { id: 'ida', path: 'root:a', bounds: { objects: 10, bytes: 1024 } };
  expect(tree.chain('idb')).toEqual([a]);
  expect(tree.chain('idc')).toEqual([{ id: 'idc', path: 'root:a:b:c', bounds: { objects: 5 } }, a]);
  tree.put(key('root', 'a'), workspace('ida'));
  expect(tree.chain('idb')).toEqual([]);
  tree.put(key('idb', 'c'), undefined);
  expect(tree.chain('idc')).toEqual([]);
});

test('settings bound all but root where a Workspace says nothing, and a burst goes with its rate', () => {
  const tree = new Tree({ objects: 10, requestsPerSecond: 5, requestBurst: 50 });
  tree.put(key('root', 'a'), workspace('ida', { requestsPerSecond: 7 }));
  expect(tree.chain('ida')).toEqual([
    { id: 'ida', path: 'root:a', bounds: { objects: 10, requestsPerSecond: 7 } },
  ]);
  expect(tree.chain('other').map(({ path }) => path)).toEqual(['other']);
  expect(tree.chain('root')).toEqual([]);
});

test('tells who comes below whom, and leaves', () => {
  const tree = new Tree();
  const moves: string[] = [];
  tree.onMove = (id, parent, sign) => moves.push(`${sign} ${id} ${parent}`);
  tree.put(key('root', 'a'), workspace(undefined));
  tree.put(key('root', 'a'), workspace('ida'));
  tree.put(key('root', 'a'), workspace('ida'));
  tree.put(key('root', 'a'), workspace('idx'));
  tree.put(key('root', 'a'), undefined);
  expect(moves).toEqual(['1 ida root', '-1 ida root', '1 idx root', '-1 idx root']);
});
