import { expect, it, vi } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { Random } from '../../../fault/random.ts';
import { until } from '../../../world/objects.ts';
import { follow, followed, listed, sorted } from './histories.ts';
import { deployment, keys, logical, namespace, object, placementKey, Upstream } from './upstream.ts';

const accounts = ['default', 'robot'] as const;
const accountKey = (name: string) =>
  keys.object({ group: '', resource: 'serviceaccounts', name }, logical, namespace);

/** One thing that happens to a cluster, a workload, its Placement or its ServiceAccount. */
async function step(upstream: Upstream, random: Random): Promise<unknown> {
  const [root, ref] = deployment(random.pick(['web', 'db']));
  const name = random.pick(accounts);
  switch (random.below(7)) {
    case 0:
      return await setCluster(upstream, random.pick(['east', 'west']), random);
    case 1:
      return await upstream.write(accountKey(name), account(name, random));
    case 2:
      return await upstream.remove(accountKey(name));
    case 3:
      return await upstream.remove(placementKey(ref));
    case 4:
      return await upstream.remove(keys.object(ref, logical, namespace));
    default: {
      const on = random.pick([['west'], ['east'], ['east', 'west']]);
      const phase = random.pick(['Joining', 'Active', 'Active', 'Leaving'] as const);
      const shares = Object.fromEntries(on.map((cluster) => [cluster, { phase }]));
      return await upstream.place(withPods(root, random), ref, shares);
    }
  }
}

function setCluster(upstream: Upstream, name: string, random: Random): Promise<unknown> {
  const server = random.pick(['https://one:6443', 'https://two', undefined]);
  const cluster = object('atoll.dev/v1alpha1', 'PhysicalCluster', name);
  return upstream.write(keys.physicalCluster(name), {
    ...cluster,
    metadata: { name, uid: `uid-${name}` },
    spec: {
      kubeconfigSecretRef: { namespace: 'a', name: 'b' },
      ...(server && { inClusterConfig: { server } }),
    },
    status: { version: String(random.below(3)) },
  });
}

function account(name: string, random: Random): KubeObject {
  const made = object('v1', 'ServiceAccount', name);
  const uid = `${name}-${random.below(2)}`;
  const said = random.pick([true, false, undefined]);
  return {
    ...made,
    metadata: { ...made.metadata, uid },
    ...(said !== undefined && { automountServiceAccountToken: said }),
  };
}

function withPods(root: KubeObject, random: Random): KubeObject {
  const serviceAccountName = random.pick([...accounts, undefined]);
  const said = random.pick([true, false, undefined, undefined]);
  const pods = {
    containers: [{ name: 'c', image: 'shop:1' }],
    ...(serviceAccountName && { serviceAccountName }),
    ...(said !== undefined && { automountServiceAccountToken: said }),
  };
  return { ...root, spec: { ...(root.spec as object), template: { metadata: {}, spec: pods } } };
}

it('how pods reach their logical cluster is told by a watch, from whenever on, as a list says it', async () => {
  let given = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const upstream = await Upstream.make('east', 'west');
    await setCluster(upstream, 'west', random);
    const west = upstream.client('west');
    const life = new AbortController();
    const first = await followed(west, life.signal);
    let middle = await listed(west);
    for (let i = 0; i < 60; i++) {
      if (i === 20) middle = await listed(west);
      await step(upstream, random);
    }
    follow(west, middle.state, middle.revision, life.signal);
    const [root, ref] = deployment('end');
    await upstream.place(root, ref, { west: { phase: 'Active' } });
    const end = 'end.deployments.apps';
    await until(`seed ${seed}: both are told of the end`, async () =>
      [first, middle.state].every((state) => state.has(end)),
    );
    const { state } = await listed(west);
    given += [...state.values()].filter((spec) => spec.includes('"account":')).length;
    expect(sorted(first), `seed ${seed}, from the start`).toEqual(sorted(state));
    expect(sorted(middle.state), `seed ${seed}, from the middle`).toEqual(sorted(state));
    life.abort();
  }
  expect(given).toBeGreaterThan(40);
});

it('what is written of an account that says nothing of its pods looks at no share', async () => {
  const upstream = await Upstream.make('west');
  const cluster = object('atoll.dev/v1alpha1', 'PhysicalCluster', 'west');
  const spec = {
    kubeconfigSecretRef: { namespace: 'a', name: 'b' },
    inClusterConfig: { server: 'https://one' },
  };
  await upstream.write(keys.physicalCluster('west'), {
    ...cluster,
    metadata: { name: 'west', uid: 'w' },
    spec,
  });
  const robot = object('v1', 'ServiceAccount', 'default');
  await upstream.write(accountKey('default'), robot);
  const [web, ref] = deployment('web');
  await upstream.place(web, ref, { west: { phase: 'Active' } });
  const life = new AbortController();
  const state = await followed(upstream.client('west'), life.signal);
  const marker = async (name: string) => {
    const [root, at] = deployment(name);
    await upstream.place(root, at, { west: { phase: 'Active' } });
    await until('it is told', async () => state.has(`${name}.deployments.apps`));
  };
  await marker('followed');
  const read = vi.spyOn(upstream.store, 'get');
  const looks = () => read.mock.calls.filter(([key]) => key === keys.object(ref, logical, namespace)).length;
  const annotated = { ...robot, metadata: { ...robot.metadata, annotations: { a: 'b' } } };
  await upstream.write(accountKey('default'), annotated);
  await marker('first');
  expect(looks()).toBe(0);
  await upstream.write(accountKey('default'), { ...annotated, automountServiceAccountToken: false });
  await marker('second');
  expect(looks()).toBe(1);
  life.abort();
});
