import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Api, startApi } from './api.ts';
import { Turns } from './turns.ts';

const pods = 3_200;
const piece = 256 << 10;
let turns: Turns;
let api: Api;

beforeAll(async () => {
  const store = openMemory();
  turns = new Turns(store);
  api = startApi({ store: turns.store });
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'many' } });
  const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'i'.repeat(800) }] };
  for (let i = 0; i < pods; i++) {
    const name = `p${String(i).padStart(5, '0')}`;
    const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name, namespace: 'many', uid: name }, spec };
    await store.create(`/core/pods/root/many/${name}`, Buffer.from(JSON.stringify(pod)));
  }
});
afterAll(() => api.close());

test('a label of a Namespace has its pods judged a few at a time: others wait for some of them', async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  let warnings: string[] = [];
  const most = await turns.mostBytes(async () => {
    const { status, headers } = await api.call('PATCH', '/api/v1/namespaces/many', { metadata: { labels } });
    expect(status).toBe(200);
    warnings = [headers['warning'] ?? []].flat();
  });
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(piece);
  expect(warnings.join()).toMatch(/only checked against the first [0-9]+ of 3200 existing pods/);
});

const forms = {
  'a Table': 'application/json;as=Table;v=v1;g=meta.k8s.io',
  'metadata alone': 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'metadata alone, in protobuf':
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  YAML: 'application/yaml',
  'a Table in YAML': 'application/yaml;as=Table;v=v1;g=meta.k8s.io',
  protobuf: 'application/vnd.kubernetes.protobuf',
};
const lists = [
  ...Object.entries(forms).map(([what, accept]) => [what, accept, ''] as const),
  ['JSON that is indented', 'application/json', '?pretty=true'] as const,
  ['an indented Table', forms['a Table'], '?pretty=true'] as const,
];

describe('of a list without limit others wait for a piece', () => {
  test.each(lists)('as %s', async (_, accept, query) => {
    const most = await turns.mostBytes(async () => {
      const { status } = await api.call('GET', `/api/v1/namespaces/many/pods${query}`, undefined, { accept });
      expect(status).toBe(200);
    });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(piece);
  });

  test('by a selector that reads every object', async () => {
    const most = await turns.mostBytes(async () => {
      const { body } = await api.call('GET', '/api/v1/namespaces/many/pods?fieldSelector=spec.nodeName=none');
      expect(body.items).toEqual([]);
    });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(piece);
  });
});
