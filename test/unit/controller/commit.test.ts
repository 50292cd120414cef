import fc from 'fast-check';
import mergePatch from 'json-merge-patch';
import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { commit } from '../../../controller/commit.ts';
import { mergePatchOf } from '../../../controller/patch.ts';
import type { KubeObject } from '../../../kube/object.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const metadata = { name: 'a', namespace: 'x', uid: 'u', resourceVersion: '7' };
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'K',
  metadata,
  spec: { n: 1, l: [1, 2] },
  status: { s: 1 },
};

test.each([
  ['equal', { a: { b: [1] } }, { a: { b: [1] } }, undefined],
  ['changed', { a: { b: 1, c: 2 } }, { a: { b: 3, c: 2 } }, { a: { b: 3 } }],
  ['removed', { a: { b: 1, c: 2 }, d: 1 }, { a: { b: 1 } }, { a: { c: null }, d: null }],
  ['lists whole', { a: [1, 2] }, { a: [1] }, { a: [1] }],
  ['undefined is absent', { a: 1 }, { a: undefined, b: undefined }, { a: null }],
])('%s', (_name, old, wanted, expected) => {
  expect(mergePatchOf(old, wanted)).toEqual(expected);
});

test('a field named __proto__ is a field', () => {
  const patch = mergePatchOf({}, JSON.parse('{"labels":{"__proto__":{"x":1}}}'));
  expect(JSON.stringify(patch)).toBe('{"labels":{"__proto__":{"x":1}}}');
});

test('applied to the old object the patch gives the wanted one', () => {
  const leaf = fc.oneof(fc.boolean(), fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 2 }));
  const key = fc.constantFrom('a', 'b', 'c');
  const { tree } = fc.letrec((tie) => ({
    tree: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, leaf, tie('tree'))),
  }));
  fc.assert(
    fc.property(tree, tree, (a, b) => {
      const [old, wanted] = [a, b].map((one) => JSON.parse(JSON.stringify(one)) as Record<string, unknown>);
      const patch = mergePatchOf(old ?? {}, wanted ?? {}) ?? {};
      expect(mergePatch.apply(structuredClone(old), patch)).toEqual(wanted);
    }),
  );
});

function recorder() {
  const sent: string[] = [];
  const client = new Client(async ({ method, url, body }) => {
    sent.push(`${method} ${url} ${Buffer.from(body ?? []).toString()}`);
    return { status: 200, headers: {}, body: Buffer.from('{}') };
  });
  return { client, sent };
}

test.each([
  [
    'spec',
    { ...object, spec: { n: 2, l: [1, 2] } },
    {},
    'PATCH /api/v1/namespaces/x/configmaps/a {"spec":{"n":2},"metadata":{"uid":"u","resourceVersion":"7"}}',
  ],
  [
    'status, unlocked, in a cluster',
    { ...object, status: { s: 2 } },
    { lock: false, cluster: 'root:t' },
    'PATCH /clusters/root:t/api/v1/namespaces/x/configmaps/a/status {"status":{"s":2},"metadata":{"uid":"u"}}',
  ],
  [
    'both where they are one write',
    { ...object, spec: { n: 2, l: [1, 2] }, status: { s: 2 } },
    { whole: true },
    'PATCH /api/v1/namespaces/x/configmaps/a {"spec":{"n":2},"status":{"s":2},"metadata":{"uid":"u","resourceVersion":"7"}}',
  ],
  [
    'the status alone of what may be written whole',
    { ...object, status: { s: 2 } },
    { whole: true },
    'PATCH /api/v1/namespaces/x/configmaps/a/status {"status":{"s":2},"metadata":{"uid":"u","resourceVersion":"7"}}',
  ],
])('commits %s in one patch', async (_name, wanted, options, expected) => {
  const { client, sent } = recorder();
  await commit(client, configMaps, object, wanted, options);
  expect(sent).toEqual([expected]);
});

test('sends nothing when nothing changed, and refuses to change both halves', async () => {
  const { client, sent } = recorder();
  expect(await commit(client, configMaps, object, structuredClone(object))).toBe(object);
  const both = commit(client, configMaps, object, { ...object, spec: {}, status: {} });
  await expect(both).rejects.toThrow('cannot change both');
  expect(sent).toEqual([]);
});
