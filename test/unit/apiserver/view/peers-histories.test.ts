import { expect, it } from 'vitest';
import { reportedAnnotation } from '../../../../cluster/names.ts';
import { reportOf } from '../../../../cluster/peers.ts';
import { reflectedAs } from '../../../../cluster/reflected.ts';
import type { ObjectRef, Placement, Share } from '../../../../cluster/types.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { Random } from '../../../fault/random.ts';
import { until } from '../../../world/objects.ts';
import { follow, followed, listed, sorted } from './histories.ts';
import { keys, logical, namespace, object, Upstream } from './upstream.ts';

const clusters = ['east', 'west', 'north'] as const;
const services = ['web', 'db'] as const;

const refOf = (name: string, uid: string): ObjectRef => ({
  group: '',
  version: 'v1',
  resource: 'services',
  kind: 'Service',
  name,
  uid,
});

/** One thing that happens to clusters, Services, their Placements or what is reported of them. */
function step(upstream: Upstream, random: Random): Promise<unknown> {
  const cluster = random.pick(clusters);
  const name = random.pick(services);
  // Most of the time the one that it had from the first.
  const uid = random.chance(0.85) ? `${name}-1` : `${name}-2`;
  const placement = keys.placement(logical, namespace, `${name}.services`);
  const root = keys.object(refOf(name, uid), logical, namespace);
  const sliceName = `slice-${random.below(3)}-${cluster}`;
  const slice = keys.object(
    { group: 'discovery.k8s.io', resource: 'endpointslices', name: sliceName },
    logical,
    namespace,
  );
  const steps: [number, () => Promise<unknown>][] = [
    [4, () => setCluster(upstream, cluster, random)],
    // Whose shares are followed stays.
    [1, async () => cluster !== 'west' && (await upstream.remove(keys.physicalCluster(cluster)))],
    [5, () => upstream.write(placement, placed(name, uid, random))],
    [3, () => hear(upstream, placement, cluster, random)],
    [1, () => upstream.remove(placement)],
    [4, () => upstream.write(root, service(name, uid, random))],
    [1, () => upstream.remove(root)],
    [7, () => upstream.write(slice, reported(sliceName, cluster, random.pick(services), random))],
    [1, () => upstream.remove(slice)],
  ];
  let left = random.below(steps.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, run] of steps) {
    left -= weight;
    if (left < 0) return run();
  }
  throw new Error('a step was chosen that is not there');
}

function setCluster(upstream: Upstream, name: string, random: Random): Promise<unknown> {
  const network = random.pick(['one', 'one', 'two', undefined]);
  return upstream.write(keys.physicalCluster(name), {
    ...object('atoll.dev/v1alpha1', 'PhysicalCluster', name),
    metadata: { name, uid: `uid-${name}` },
    spec: { kubeconfigSecretRef: { namespace: 'a', name: 'b' }, ...(network && { network }) },
    status: { conditions: [{ type: 'Ready', status: random.chance(0.7) ? 'True' : 'Unknown' }] },
  });
}

/** A slice, which says nothing of where it is to be. */
async function hear(upstream: Upstream, key: string, from: string, random: Random): Promise<void> {
  const placement = await upstream.read<Placement>(key);
  const status = { clusters: { [from]: { present: true, observedGeneration: random.below(5) } } };
  if (placement) await upstream.write(key, { ...placement, status });
}

function placed(name: string, uid: string, random: Random): Placement {
  const on: Record<string, Share> = {};
  for (const cluster of clusters) {
    if (random.chance(0.25)) continue;
    const phase = random.pick(['Joining', 'Active', 'Active', 'Leaving'] as const);
    on[cluster] = { phase, ...(random.chance(0.2) && { withdrawn: true }) };
  }
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: `${name}.services`, namespace, uid: `placement-of-${name}` },
    spec: { ref: refOf(name, uid), clusters: Object.keys(on), shares: on, requires: [] },
  };
}

function service(name: string, uid: string, random: Random): KubeObject {
  const made = object('v1', 'Service', name);
  const spec = random.chance(0.3) ? { type: 'ExternalName' } : { ports: [{ port: random.between(80, 82) }] };
  return { ...made, metadata: { ...made.metadata, uid }, spec };
}

function reported(name: string, from: string, of: string, random: Random): KubeObject {
  const made = object('discovery.k8s.io/v1', 'EndpointSlice', name);
  const slice: KubeObject = {
    ...made,
    metadata: { ...made.metadata, labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [`10.0.0.${random.between(1, 9)}`], conditions: { ready: true } }],
    ports: [],
  };
  const report = { [reportedAnnotation]: random.chance(0.9) ? reportOf(slice) : 'altered' };
  const annotations = reflectedAs(report, made.metadata.uid ?? '', [from]);
  return { ...slice, metadata: { ...slice.metadata, annotations } };
}

it('what a watch has told, from whenever on, is what a list says', async () => {
  let beside = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const upstream = await Upstream.make();
    for (const name of clusters) await setCluster(upstream, name, random);
    const west = upstream.client('west');
    const life = new AbortController();
    const first = await followed(west, life.signal);
    let middle = await listed(west);
    for (let i = 0; i < 60; i++) {
      if (i === 20) middle = await listed(west);
      await step(upstream, random);
    }
    follow(west, middle.state, middle.revision, life.signal);
    const end = 'end.services';
    const on = { spec: { ...placed('end', 'end-1', random).spec, shares: { west: { phase: 'Active' } } } };
    await upstream.write(keys.object(refOf('end', 'end-1'), logical, namespace), {
      ...object('v1', 'Service', 'end'),
      metadata: { ...object('v1', 'Service', 'end').metadata, uid: 'end-1' },
    });
    await upstream.write(keys.placement(logical, namespace, end), {
      ...placed('end', 'end-1', random),
      ...on,
    } as Placement);
    await until(`seed ${seed}: both are told of the end`, async () =>
      [first, middle.state].every((state) => state.has(end)),
    );
    const { state } = await listed(west);
    beside += [...state.values()].filter((spec) => spec.includes('"isBeside":true')).length;
    expect(sorted(first), `seed ${seed}, from the start`).toEqual(sorted(state));
    expect(sorted(middle.state), `seed ${seed}, from the middle`).toEqual(sorted(state));
    life.abort();
  }
  expect(beside).toBeGreaterThan(20);
});
