import { describe, expect, test } from 'vitest';
import {
  decodeStored,
  encodeStored,
  shownStored,
  spliceStored,
  written,
} from '../../../apiserver/registry/codec.ts';
import { collectionRange, objectKey, parseKey } from '../../../apiserver/registry/keys.ts';
import type { KubeObject } from '../../../kube/object.ts';

const entry = (object: KubeObject) => ({ key: 'k', value: encodeStored(object), revision: 7, created: 1 });
const object = (metadata: KubeObject['metadata']): KubeObject => ({
  spec: { a: '"metadata":{' },
  metadata: { name: 'x', ...metadata },
  apiVersion: 'v1',
  kind: 'ConfigMap',
});

describe('stored bytes', () => {
  test('have memory of their own: they are kept for longer than what lies beside them in a pool', () => {
    const bytes = encodeStored(object({ annotations: { name: 'ü€' } }));
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  test('what is small, or no piece of more, is read once for many; each is shown what reading it shows', () => {
    const small = entry(object({ annotations: { 'kcp.io/cluster': 'elsewhere', a: 'b' } }));
    const large = entry({ ...object({}), spec: 'x'.repeat(64 * 1024) });
    const piece = {
      ...small,
      value: Buffer.concat([small.value, large.value]).subarray(0, small.value.length),
    };
    const specs = [small, piece].map((one) => [shownStored(one)['spec'], shownStored(one)['spec']]);
    expect(specs.map(([first, second]) => first === second)).toEqual([true, false]);
    for (const one of [small, large, piece])
      for (const cluster of [undefined, 'root:a'])
        expect(shownStored(one, cluster)).toEqual(decodeStored(one, cluster));
  });

  test('what this process wrote is shown as it was written, without reading it, however its bytes come; else it is read', async () => {
    const made = object({ labels: { a: 'b' } });
    const write = (key: string, fails = false) =>
      written(key, made, async (value) => {
        if (fails) throw new Error('disk full');
        return { key, value, revision: 7, created: 7 };
      });
    const isRead = (key: string, of: KubeObject) =>
      shownStored({ ...entry(of), key }).metadata.labels !== made.metadata.labels;
    await write('mine');
    expect(isRead('mine', made)).toBe(false);
    expect(shownStored({ ...entry(made), key: 'mine' })).toEqual(decodeStored(entry(made)));
    expect(isRead('other', made)).toBe(true);
    const since = object({ labels: { a: 'c' } });
    expect(shownStored({ ...entry(since), key: 'mine' })).toEqual(decodeStored(entry(since)));
    await expect(write('failed', true)).rejects.toThrow('disk full');
    expect(isRead('failed', made)).toBe(true);
    for (let i = 0; i < 128; i++) await write(`later-${i}`);
    expect(isRead('mine', made)).toBe(true);
  });

  test.each([
    ['no annotations', {}],
    ['annotations', { annotations: { a: 'b' } }],
    ['empty annotations', { annotations: {} }],
    ['a forged logical cluster', { annotations: { 'kcp.io/cluster': 'elsewhere', a: 'b' } }],
    ['a resourceVersion', { resourceVersion: '3' }],
  ])('%s: spliced as parsed', (_what, metadata) => {
    const stored = entry(object(metadata));
    for (const cluster of [undefined, 'root:a']) {
      const bytes = spliceStored(stored, cluster === undefined ? {} : { cluster });
      expect(JSON.parse(bytes.toString())).toEqual(decodeStored(stored, cluster));
    }
    const { kind: _k, apiVersion: _v, ...bare } = decodeStored(stored);
    expect(JSON.parse(spliceStored(stored, { bare: true }).toString())).toEqual(bare);
  });

  test('the logical cluster and the revision come from the store, not from the object', () => {
    const shown = decodeStored(
      entry(object({ resourceVersion: '3', annotations: { 'kcp.io/cluster': 'elsewhere' } })),
      'here',
    );
    expect(shown.metadata.resourceVersion).toBe('7');
    expect(shown.metadata.annotations).toEqual({ 'kcp.io/cluster': 'here' });
  });

  test('a key of the user that looks like the head of another kind changes nothing', () => {
    const other = { kind: 'K'.repeat(20), apiVersion: 'v1', metadata: { name: 'y' } };
    const head = `{"kind":"${other.kind}","apiVersion":"v1","metadata":{`;
    for (let pad = 0; pad < head.length; pad++) {
      spliceStored(entry(other), {});
      const spec = { metadata: { metadata: { metadata: {} } } };
      const stored = entry({ kind: 'C', apiVersion: 'v1', metadata: { name: 'x'.repeat(pad) }, spec });
      expect(JSON.parse(spliceStored(stored, {}).toString())).toEqual(decodeStored(stored));
    }
  });

  test('a user key __proto__ stays a key', () => {
    const hostile = JSON.parse('{"kind":"K","apiVersion":"v1","metadata":{"name":"x"},"__proto__":{"a":1}}');
    expect(Object.hasOwn(decodeStored(entry(hostile)), '__proto__')).toBe(true);
  });
});

describe('keys', () => {
  const pods = { group: '', resource: 'pods', namespaced: true };
  const roles = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', namespaced: false };

  test('read back what was written', () => {
    const key = objectKey(pods, 'root:a', 'n', 'x');
    expect(key).toBe('/core/pods/root:a/n/x');
    expect(parseKey(pods, key)).toEqual({ cluster: 'root:a', namespace: 'n', name: 'x' });
    const named = objectKey(roles, 'root', '', 'größe:admin x');
    expect(named).toMatch(/^[!-~]+$/);
    expect(parseKey(roles, named)).toEqual({ cluster: 'root', namespace: '', name: 'größe:admin x' });
  });

  test('a range holds its own and no neighbour', () => {
    const holds = (range: { start: string; end: string }, key: string) =>
      key >= range.start && key < range.end;
    const inA = collectionRange(pods, 'root:a', '');
    expect(holds(inA, objectKey(pods, 'root:a', 'n', 'x'))).toBe(true);
    expect(holds(inA, objectKey(pods, 'root:ab', 'n', 'x'))).toBe(false);
    expect(holds(inA, objectKey(pods, 'root:a:b', 'n', 'x'))).toBe(false);
    const inN = collectionRange(pods, 'root', 'n');
    expect(holds(inN, objectKey(pods, 'root', 'n-1', 'x'))).toBe(false);
    expect(holds(collectionRange(pods, '*', ''), objectKey(pods, 'z', 'n', 'x'))).toBe(true);
  });

  test('both groups of events are one store', () => {
    const core = objectKey({ group: '', resource: 'events', namespaced: true }, 'root', 'n', 'x');
    const other = objectKey(
      { group: 'events.k8s.io', resource: 'events', namespaced: true },
      'root',
      'n',
      'x',
    );
    expect(other).toBe(core);
  });
});
