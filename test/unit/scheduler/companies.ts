import type { PlacementPolicy, PlacementPolicySpec } from '../../../cluster/policy.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { layer } from '../../../scheduler/policies.ts';
import { deployment } from '../cluster/objects.ts';
import { cluster, type Fields, World } from './world.ts';

type Clusters = NonNullable<PlacementPolicySpec['clusters']>;

export const regions: Record<string, string> = { a: 'us', b: 'eu', c: 'eu' };
export const labelled = (name: string, spec: Fields = {}): PhysicalCluster => {
  const made = cluster(name, spec);
  const region = regions[name];
  return { ...made, metadata: { ...made.metadata, labels: { ...(region && { region }) } } };
};
export const app = (name: string) => ({ labelSelector: { matchLabels: { app: name } } });
export const all = { labelSelector: {} };
export const ofApp = (name: string, clusters: Clusters): PlacementPolicy => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PlacementPolicy',
  metadata: { name: `of-${name}`, namespace: 'shop' },
  spec: { clusters, ...(name !== '*' && { selector: app(name) }) },
});

/** Each a Deployment with the label app of its name; where it is already, if anywhere. */
export function world(where: Record<string, string | undefined>, policies: PlacementPolicy[] = []): World {
  const objects = Object.keys(where).map((name) => deployment(name, { metadata: { labels: { app: name } } }));
  const there = Object.entries(where).flatMap(([name, at]) => (at ? [{ name, names: at.split(',') }] : []));
  const made = new World(...objects.filter(({ object }) => where[object.metadata.name ?? '']));
  made.clusters = ['a', 'b', 'c'].map((name) => labelled(name));
  made.policies = [layer(there.map(({ name, names }) => ofApp(name, { names })))];
  made.decide();
  made.objects.push(...objects.filter(({ object }) => !where[object.metadata.name ?? '']));
  made.policies = [layer(policies)];
  return made;
}
