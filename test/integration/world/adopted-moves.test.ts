import { afterAll, beforeAll, expect, test } from 'vitest';
import { startInformer } from '../../../client/informer.ts';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Workload } from '../../../sim/types.ts';
import { templateHash } from '../../../sim/workloads/children.ts';
import { hashKey } from '../../../sim/workloads/replicasets.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  template,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, events, placements, replicasets, services } = resources;
const inDefault = { namespace: 'default' };
interface EventFields {
  type?: string;
  reason?: string;
  message?: string;
  involvedObject?: { kind?: string };
}
const ended = new AbortController();
let world: World;
beforeAll(async () => {
  world = await startWorld({ drainMs: 2_000 });
});
afterAll(async () => {
  ended.abort();
  await world.stop();
});

/** For a Deployment of the same template, as the simulated cluster's controller knows it. */
async function labelAsCurrent(name: string): Promise<void> {
  const there = async () => {
    const { items } = await world.physical('east').client.list<Workload>(replicasets);
    return items.find(({ metadata }) => metadata.name === name);
  };
  const hash = templateHash((await there())?.spec?.template ?? { spec: { containers: [] } });
  const metadata = { labels: { [hashKey]: hash } };
  await world.admin.patch(replicasets, { ...inDefault, name }, 'merge', { metadata });
  await until('it is labelled there', async () => (await there())?.metadata.labels?.[hashKey] === hash);
}

/** A ReplicaSet of its own on east that a Deployment has adopted, to have the same pods or newer ones. */
async function adopted(name: string, { annotations = {}, image = `${name}:1` } = {}): Promise<void> {
  const { admin } = world;
  const { metadata, spec, ...made } = deployment(name, 2, 'east');
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...metadata,
      name: `${name}-old`,
      labels: { app: name },
      annotations: { ...metadata.annotations, ...annotations },
    },
    spec,
  };
  await admin.create(replicasets, set, inDefault);
  await until('it runs', async () => (await readyPods(world.physical('east'), name)).length === 2);
  await labelAsCurrent(`${name}-old`);
  const owner = { ...made, metadata, spec: { ...(spec as object), template: template(name, image) } };
  await admin.create(deployments, owner, inDefault);
  await until('adopted', async () => {
    const { metadata } = (await find(admin, replicasets, `${name}-old`)) ?? {};
    return metadata?.ownerReferences?.some(({ controller, name: by }) => controller && by === name);
  });
  await settled(admin, `${name}.deployments.apps`);
  await settled(admin, `${name}-old.replicasets.apps`);
}

const shareOf = async (placement: string) =>
  (await find<Placement>(world.admin, placements, placement))?.spec?.shares?.['east'];

test('a Service is withdrawn before its Deployment leaves, though that has adopted a ReplicaSet there', async () => {
  const { admin } = world;
  const service = { selector: { app: 'web' }, ports: [{ port: 80 }] };
  await admin.create(
    services,
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', ...inDefault }, spec: service },
    inDefault,
  );
  await adopted('web', { image: 'new:2' });
  await Promise.all([move(admin, replicasets, 'web-old', 'west'), move(admin, deployments, 'web', 'west')]);
  let isWithdrawn = false;
  await until('both have left', async () => {
    const [of, at] = [await shareOf('web.deployments.apps'), await shareOf('web.services')];
    isWithdrawn ||= of?.phase === 'Withdrawing' && at?.withdrawn === true;
    return !of && !(await shareOf('web-old.replicasets.apps'));
  });
  expect(isWithdrawn).toBe(true);
});

test('an adopted ReplicaSet leaves with its Deployment, whatever drain it asks for: it is not made again there', async () => {
  const { admin } = world;
  await adopted('own', { annotations: { 'atoll.dev/drain-seconds': '600' } });
  const { signal } = ended;
  const phases = new Set<string>();
  const told = ({ metadata, spec }: Placement) => {
    const phase = metadata.name === 'own-old.replicasets.apps' ? spec?.shares?.['east']?.phase : undefined;
    if (phase) phases.add(phase);
  };
  const informer = startInformer<Placement>(admin, placements, { ...inDefault, signal });
  informer.on({ add: told, update: told });
  await informer.synced;
  await Promise.all([move(admin, replicasets, 'own-old', 'west'), move(admin, deployments, 'own', 'west')]);
  await until('both have left', async () => {
    return !(await shareOf('own.deployments.apps')) && !(await shareOf('own-old.replicasets.apps'));
  });
  expect([...phases]).toEqual(['Active', 'Leaving']);
});

test('moved away from a Deployment that stays it waits for that one, and says so; then both leave', async () => {
  const { admin } = world;
  // Nothing of its Deployment's would be ready on west: it is not gone without.
  await adopted('kept', { annotations: { 'atoll.dev/wait-seconds': '0' } });
  const body = { metadata: { annotations: { 'atoll.dev/clusters': 'west' } } };
  const answer = await admin.raw({
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/default/replicasets/kept-old',
    headers: { 'content-type': 'application/merge-patch+json' },
    body,
  });
  expect(String(answer.headers['warning'])).toContain(
    'metadata.annotations[atoll.dev/clusters]: Deployment kept has adopted this, and it leaves no cluster before ' +
      'that one does; annotate Deployment kept, too',
  );
  const said =
    'waiting for Deployment kept (it has adopted this, and stays: move that one, and this leaves with it); until then it ' +
    'stays on east';
  await until('its Event says so', async () => {
    const { items } = await admin.list<KubeObject & EventFields>(events, inDefault);
    return items.some(
      ({ type, reason, message, involvedObject }) =>
        involvedObject?.kind === 'ReplicaSet' &&
        type === 'Warning' &&
        reason === 'WaitingForOthers' &&
        message === said,
    );
  });
  await until('so does its Placement', async () => {
    const { status } = (await find<Placement>(admin, placements, 'kept-old.replicasets.apps')) ?? {};
    return status?.conditions?.some(({ type, message }) => type === 'Settled' && message === said);
  });
  await move(admin, deployments, 'kept', 'west');
  await until('both have left', async () => {
    return !(await shareOf('kept.deployments.apps')) && !(await shareOf('kept-old.replicasets.apps'));
  });
});
