import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from '../../client/client.ts';
import { startInformer } from '../../client/informer.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import { type Copier, mark, startMarksCopier } from '../atoll/copier.ts';
import { atoll, must, mustJson, printing, until } from '../atoll/kubectl.ts';
import { type Name, type Pair, runOnly, startPair, volumes, withClaims } from '../atoll/pair.ts';
import type { PodSamples } from '../atoll/pods.ts';

/** Two real clusters and a copier that may to Atoll what docs/reference/copiers.md says. */
let pair: Pair;
let pods: PodSamples;
let copier: Copier;
/** Pods in the order that they came in, on either cluster; whether their claim was copied by then. */
let starts: { on: string; name: string; copied: boolean }[] = [];
const life = new AbortController();

const names = ['east', 'west'] as const;
const inDb = ['-n', 'db'];
const ordinals = [0, 1, 2];
const claimOf = (ordinal: number) => `data-db-${ordinal}`;

beforeAll(async () => {
  pair = await startPair();
  for (const name of names) {
    expect(await pair.add(name, '--copier', 'marks')).toMatchObject({ code: 0 });
    await pair.apply(pair.cluster(name).kubeconfig, 'default', ...volumes(3));
  }
  pods = await pair.journey('db', { ...withClaims('db', 3), ...annotated('east') });
  await until('it runs on east', 60, async () => pods.ready('east').length === 3);
  copier = await startMarksCopier(pair, await copierKubeconfig(), 'db');
  for (const name of names) await noteStarts(name);
  await Promise.all(ordinals.map((ordinal) => write('east', ordinal, 'first')));
});
afterAll(async () => {
  life.abort();
  copier?.stop();
  pods?.stop();
  await pair?.stop();
});

function annotated(clusters: string): object {
  const annotations = { 'atoll.dev/volumes': 'copy', 'atoll.dev/clusters': clusters };
  return { metadata: { name: 'db', annotations } };
}

/** Of a ServiceAccount with the ClusterRole that the reference has. */
async function copierKubeconfig(): Promise<string> {
  const { server, ctl } = pair;
  const text = readFileSync(join(import.meta.dirname, '../../docs/reference/copiers.md'), 'utf8');
  const [, role = ''] = /```yaml\n([^`]*kind: ClusterRole\n[^`]*)```/.exec(text) ?? [];
  await pair.apply(server.kubeconfig, 'default', load(role) as object);
  await ctl('create', 'serviceaccount', 'marks', ...inDb);
  await ctl(
    'create',
    'clusterrolebinding',
    'marks',
    '--clusterrole=atoll:copier',
    '--serviceaccount=db:marks',
  );
  const token = (await ctl('create', 'token', 'marks', ...inDb)).trim();
  const config = await mustJson<{ users: { user: object }[] }>(
    server.kubeconfig,
    'config',
    'view',
    '--raw',
    '--minify',
  );
  for (const one of config.users) one.user = { token };
  return JSON.stringify(config);
}

async function noteStarts(on: Name): Promise<void> {
  const client = new Client(await transportFromKubeconfigFile(pair.cluster(on).kubeconfig));
  const resource = { group: '', version: 'v1', resource: 'pods' };
  const informer = startInformer(client, resource, { labelSelector: 'app=db', signal: life.signal });
  await informer.synced;
  informer.on({
    add: ({ metadata: { name = '' } }) =>
      starts.push({ on, name, copied: copier.copied.has(`data-${name}`) }),
  });
}

/** Whoever notes them has a watch of its own. */
const startsSeen = (count: number) =>
  until(`${count} starts are seen`, 10, async () => starts.length >= count);

async function write(on: Name, ordinal: number, text: string): Promise<void> {
  const [claim] = await pair.found(on, 'pvc', claimOf(ordinal));
  const { kubeconfig } = pair.cluster(on);
  const of = ['pvc', claimOf(ordinal), '-n', claim?.metadata.namespace ?? ''];
  await must(kubeconfig, 'annotate', '--overwrite', ...of, `${mark}=${ordinal} ${text}`);
}

async function read(on: Name): Promise<string[]> {
  const found = await Promise.all(ordinals.map((ordinal) => pair.found(on, 'pvc', claimOf(ordinal))));
  return found.flat().map(({ metadata }) => metadata.annotations?.[mark] ?? '');
}

async function moveTo(cluster: Name): Promise<void> {
  starts = [];
  copier.copied.clear();
  await pair.ctl('annotate', '--overwrite', 'sts', 'db', ...inDb, `atoll.dev/clusters=${cluster}`);
}

const readyOf = () => pair.ctl('get', 'sts', 'db', ...inDb, '-o', 'jsonpath={.status.readyReplicas}');
const placement = () => pair.ctl('get', 'placements', 'db.statefulsets.apps', ...inDb);
const isPhase = async (ordinal: number, phase: string) =>
  (await pair.ctl('get', 'volumecopies', claimOf(ordinal), ...inDb)).includes(phase);

it('a copy that fails has the pod where it was, and says so, until it is deleted', async () => {
  pods.begin();
  const why = 'no route from east to west';
  copier.faults.set(claimOf(2), why);
  await moveTo('west');
  const said = `its claim data-db-2 was not copied from east to west: ${why}; it stays on east; to have it tried again, delete volumecopies/data-db-2`;
  await until('it is said', 30, async () => (await placement()).includes(said));
  await until('it runs again', 30, async () => pods.ready('east').length === 3);
  expect(await placement()).toContain('CopyFailed');
  expect(pods.ready('west')).toEqual([]);
  const events = async () => await pair.ctl('events', '--for', 'sts/db', ...inDb);
  // An Event comes after what it tells of.
  await until('it is told', 30, async () => (await events()).includes(said));
  expect(await atoll(pair.server.kubeconfig, 'explain', 'sts/db', ...inDb)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(said),
  });
  expect([...pods.twice]).toEqual([]);
});

it('tried again, and edited back half way, what was away comes back with what was written there', async () => {
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  copier.faults.delete(claimOf(2));
  copier.faults.set(claimOf(1), gate);
  starts = [];
  await pair.ctl('delete', 'volumecopy', claimOf(2), ...inDb);
  await until('the first is there', 30, async () => pods.ready('west').includes('db-2'));
  await until('the next is copied', 30, () => isPhase(1, 'Copying'));
  await write('west', 2, 'second');
  await until('how far it is, is said', 30, async () =>
    (await placement()).includes('its claim data-db-1 is copied from east to west: 0%'),
  );
  await startsSeen(1);
  expect(starts).toEqual([{ on: 'west', name: 'db-2', copied: true }]);
  await moveTo('east');
  await runOnly(pods, 'east', 3);
  await startsSeen(2);
  expect(starts.map(({ on, name }) => `${on} ${name}`).sort()).toEqual(['east db-1', 'east db-2']);
  expect(starts.find(({ name }) => name === 'db-2')?.copied).toBe(true);
  expect(await read('east')).toEqual(['0 first', '1 first', '2 second']);
  copier.faults.clear();
  go();
  expect([...pods.twice]).toEqual([]);
});

it('it moves highest first, each with its data, and a rollout status ends when it is there', async () => {
  await until('it rests', 30, async () => (await placement()).includes('Settled'));
  let go = () => {};
  copier.faults.set(claimOf(2), new Promise<void>((resolve) => (go = resolve)));
  await moveTo('west');
  await until('the first is copied', 30, () => isPhase(2, 'Copying'));
  await until('its pod is counted no more', 30, async () => (await readyOf()) === '2');
  const { kubeconfig } = pair.server;
  const status = printing(kubeconfig, 'rollout', 'status', 'sts/db', ...inDb, '--timeout=120s');
  await until('it is waited for', 30, async () => status.text().includes('Waiting for 1 pods to be ready'));
  go();
  expect(await status.ended).toContain('roll out complete');
  await runOnly(pods, 'west', 3);
  await startsSeen(3);
  expect(starts).toEqual(['db-2', 'db-1', 'db-0'].map((name) => ({ on: 'west', name, copied: true })));
  expect(await read('west')).toEqual(['0 first', '1 first', '2 second']);
  expect([...pods.twice]).toEqual([]);
  expect(pods.highest).toBeLessThanOrEqual(3);
  expect(pods.lowest).toBeGreaterThanOrEqual(2);
});

it('killed as it waits for a copy, it goes on from there', async () => {
  await until('it rests', 30, async () => (await placement()).includes('Settled'));
  await write('west', 0, 'third');
  let go = () => {};
  copier.faults.set(claimOf(2), new Promise<void>((resolve) => (go = resolve)));
  await moveTo('east');
  await until('the first is copied', 30, () => isPhase(2, 'Copying'));
  await pair.server.kill();
  await pair.server.restart();
  expect(starts).toEqual([]);
  go();
  await runOnly(pods, 'east', 3);
  await startsSeen(3);
  expect(starts).toEqual(['db-2', 'db-1', 'db-0'].map((name) => ({ on: 'east', name, copied: true })));
  expect(await read('east')).toEqual(['0 third', '1 first', '2 second']);
  expect([...pods.twice]).toEqual([]);
});
