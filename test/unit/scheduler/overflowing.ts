import type { PlacementPolicySpec } from '../../../cluster/policy.ts';
import { numberAt } from '../../../kube/untyped.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster, World } from './world.ts';

export type Counts = Record<string, number>;

export const annotation = { 'atoll.dev/overflow': 'true' };
export const web = (replicas: number, annotations: Record<string, string> = annotation) =>
  deployment('web', { metadata: { annotations }, replicas });

/** Clusters with room for so many pods each. */
export function world(room: Counts, replicas: number, clusters?: PlacementPolicySpec['clusters']): World {
  const made = new World(web(replicas, clusters ? {} : annotation));
  made.clusters = Object.entries(room).map(([name, pods]) =>
    cluster(name, { capacity: { pods: String(pods) } }),
  );
  const policy = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'p', namespace: 'shop' },
  };
  if (clusters) made.policies = [layer([{ ...policy, spec: { clusters } }])];
  return made;
}

/** How many are to be where; the shares are made so, as the splitter does it. */
export function parts(made: World, name = 'web'): Counts {
  const { clusters = [], spread } = made.decide().spec(name) ?? {};
  const total = numberAt(made.objects[0]?.object, 'spec', 'replicas') ?? 0;
  const counts = spread?.replicas ?? Object.fromEntries(clusters.map((c) => [c, total / clusters.length]));
  const shares = Object.entries(counts).map(([c, replicas]) => [c, { phase: 'Active', replicas }] as const);
  made.share(name, Object.fromEntries(shares));
  return counts;
}
