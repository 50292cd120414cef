import { beforeEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { Asking } from '../../../syncer/asking.ts';
import { Home } from '../../../syncer/rest.ts';

const cluster = {
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east' },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
} as unknown as PhysicalCluster;
const whole: Record<string, object> = {
  '/version': { gitVersion: 'v1.36.3' },
  '/apis': { kind: 'APIGroupDiscoveryList', items: [] },
  '/api/v1/namespaces/kube-system': { metadata: { uid: 'u' } },
  '/api/v1/namespaces': { kind: 'NamespaceList', items: [] },
};

let answers: Record<string, unknown>;
let asked: string[];
let asking: Asking;

beforeEach(() => {
  [answers, asked] = [{ ...whole }, []];
  const client = new Client(async ({ url }) => {
    const [path = ''] = url.split('?');
    asked.push(path);
    const headers = { 'content-type': 'application/json' };
    return { status: 200, headers, body: Buffer.from(JSON.stringify(answers[path] ?? {})) };
  });
  const home = new Home(client, { note: () => undefined });
  const signal = new AbortController().signal;
  asking = new Asking({
    client,
    signal,
    intervalMs: 10_000,
    rests: () => true,
    hasHome: (soon) => home.ask(soon),
  });
});

/** What it is asked with the next beat. */
async function beat(): Promise<string[]> {
  asked = [];
  const { error } = await asking.look(cluster, false);
  return error === undefined ? asked : ['fails'];
}

const who = '/api/v1/namespaces/kube-system';
const home = '/api/v1/namespaces';

test('one that rests is asked in turns, and seldom who it is', async () => {
  expect([await beat(), await beat(), await beat()]).toEqual([[who, '/version'], [home], ['/apis']]);
});

test('one that does not say which version it is is asked for that no more often', async () => {
  answers['/version'] = {};
  expect([await beat(), await beat(), await beat()]).toEqual([[who, '/version'], [home], ['/apis']]);
});

test('whoever answers in its place, and not as an API server does, is no sign of life', async () => {
  expect(await beat()).toEqual([who, '/version']);
  answers = {};
  expect([await beat(), await beat()]).toEqual([['fails'], ['fails']]);
});

test('whether a namespace is there is asked with each other beat, also where it is asked who it is', async () => {
  vi.useFakeTimers();
  const beats: string[][] = [];
  for (let i = 0; i < 30; i++) {
    beats.push(await beat());
    await vi.advanceTimersByTimeAsync(60_000);
  }
  vi.useRealTimers();
  const found = beats.flatMap((one, i) => (one.includes(home) ? [i] : []));
  expect(Math.max(...found.slice(1).map((at, i) => at - (found[i] ?? 0)))).toBe(2);
  expect(beats.filter((one) => one.includes('/version'))).toHaveLength(5);
});
