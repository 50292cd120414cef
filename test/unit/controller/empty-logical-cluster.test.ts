import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { emptyLogicalCluster } from '../../../controller/workspace/empty.ts';

type Item = { metadata: { name: string; namespace?: string } };

/** A logical cluster of these Namespaces, with these ConfigMaps; each question and each deletion is kept. */
function ending(namespaces: readonly string[], configMaps: readonly Item[], going: readonly string[] = []) {
  const since = (name: string) => going.includes(name) && { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const asked: string[] = [];
  const verbs = ['list', 'delete'];
  const core = [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs },
    { name: 'namespaces', kind: 'Namespace', namespaced: false, verbs },
  ];
  const answer = (path: string): object => {
    if (path === '/apis') return { groups: [] };
    if (path === '/api/v1') return { resources: core };
    if (path === '/api/v1/namespaces')
      return { items: namespaces.map((name) => ({ metadata: { name, ...since(name) } })) };
    if (path === '/api/v1/configmaps') return { items: configMaps };
    const [, of] = /^\/api\/v1\/namespaces\/([^/]+)\/configmaps$/.exec(path) ?? [];
    return { items: configMaps.filter(({ metadata }) => metadata.namespace === of) };
  };
  const client = new Client(async ({ method, url }) => {
    const path = url.replace(/^\/clusters\/ended/, '').replace(/\?.*$/, '');
    if (path.includes('configmaps') || method === 'DELETE') asked.push(`${method} ${path}`);
    const body = Buffer.from(
      JSON.stringify({ kind: 'SomeList', apiVersion: 'v1', metadata: {}, ...answer(path) }),
    );
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  });
  const { signal } = new AbortController();
  return { asked, empty: (isAsked = false) => emptyLogicalCluster(client, 'ended', signal, isAsked) };
}

const always = ['default', 'kube-public', 'kube-system'];
const rootCas = always.map((namespace) => ({ metadata: { name: 'kube-root-ca.crt', namespace } }));

test('where nothing but what every logical cluster has is left, each kind is read once for all of it', async () => {
  const { asked, empty } = ending([...always, 'kube-node-lease'], rootCas);
  const { counts } = (await empty())!;
  const deletions = always.map((of) => `DELETE /api/v1/namespaces/${of}/configmaps/kube-root-ca.crt`);
  deletions.push('DELETE /api/v1/namespaces/kube-node-lease');
  expect(asked.sort()).toEqual([...deletions, 'GET /api/v1/configmaps'].sort());
  const named = always.map((of) => [`configmaps in ${of}`, 1]);
  expect(counts).toEqual(Object.fromEntries([...named, ['namespace kube-node-lease', 1]]));
});

test('beside a Namespace of a user, which may hold very much, each is read by itself, and what that holds is its own matter', async () => {
  const own = { metadata: { name: 'app', namespace: 'shop' } };
  const { asked, empty } = ending([...always, 'shop'], [...rootCas, own]);
  const { counts } = (await empty())!;
  expect(asked.filter((line) => line.startsWith('GET')).sort()).toEqual(
    always.map((of) => `GET /api/v1/namespaces/${of}/configmaps`),
  );
  expect(asked).toContain('DELETE /api/v1/namespaces/shop');
  expect(asked.join()).not.toContain('shop/configmaps');
  expect(counts['namespace shop']).toBe(1);
});

test.each<[string, readonly string[], readonly string[], boolean, boolean]>([
  ['while a Namespace goes that was asked to', ['shop'], ['shop'], true, false],
  ['where it was not asked just before', ['shop'], ['shop'], false, true],
  ['where another Namespace has yet to be asked', ['shop', 'late'], ['shop'], true, true],
  ['when all of them are gone', [], [], true, true],
])('all of it is looked at, or not: %s', async (_, own, going, isAsked, looks) => {
  const { asked, empty } = ending([...always, ...own], rootCas, going);
  expect((await empty(isAsked)) !== undefined).toBe(looks);
  expect(asked.length > 0).toBe(looks);
});
