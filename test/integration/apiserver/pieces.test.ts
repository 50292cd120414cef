import { afterAll, beforeAll, expect, test } from 'vitest';
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
