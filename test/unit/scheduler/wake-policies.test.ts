import { describe, expect, it } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { Informer } from '../../../client/informer.ts';
import type { PlacementPolicy, PlacementPolicySpec } from '../../../cluster/policy.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { wakeForPolicies } from '../../../scheduler/wake-policies.ts';
import { observe } from '../../../scheduler/world.ts';
import { deployment } from '../cluster/objects.ts';

const of = (cluster: string) => ({ 'kcp.io/cluster': cluster });
const clusters = { names: ['a'] };

/** Deployments web and api in two Namespaces of two logical clusters each; which Namespaces a change wakes. */
function follow() {
  const informers = new Map<string, Cache<KubeObject>>();
  const informerOf = (resource: string) => {
    const cache = informers.get(resource) ?? new Cache<KubeObject>((error) => expect.fail(String(error)));
    informers.set(resource, cache);
    return cache;
  };
  const world = observe({
    for: ({ resource }: { resource: string }) =>
      Object.assign(informerOf(resource), { hasSynced: true }) as unknown as Informer,
  } as never);
  for (const cluster of ['root', 'team'])
    for (const name of ['shop', 'bank']) {
      const labels = { stage: name === 'shop' ? 'prod' : 'test' };
      informerOf('namespaces').put({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels, annotations: of(cluster) },
      });
      for (const app of name === 'shop' ? ['web', 'api'] : ['api']) {
        const { object } = deployment(app, { metadata: { namespace: name, annotations: of(cluster) } });
        informerOf('deployments').put(object);
      }
    }
  const woken = new Set<string>();
  wakeForPolicies(world, (key) => woken.add(key));
  const answer = () => {
    const all = [...woken].sort();
    woken.clear();
    return all;
  };
  const policy = (cluster: string, namespace: string | undefined, spec: Partial<PlacementPolicySpec>) => {
    const kind = namespace === undefined ? 'ClusterPlacementPolicy' : 'PlacementPolicy';
    const metadata = { name: 'p', annotations: of(cluster), ...(namespace !== undefined && { namespace }) };
    const made: PlacementPolicy = { apiVersion: 'v', kind, metadata, spec: { clusters, ...spec } };
    return made;
  };
  const cacheOf = (namespace: string | undefined) =>
    informerOf(namespace === undefined ? 'clusterplacementpolicies' : 'placementpolicies');
  return { answer, policy, cacheOf };
}

describe('a policy wakes', () => {
  it.each<[string, string, string | undefined, PlacementPolicySpec['selector'], string[]]>([
    ['of a Namespace: it alone', 'team', 'shop', {}, ['team//shop']],
    ['of a Namespace, that selects nothing there', 'team', 'bank', { names: ['web'] }, []],
    ['of a logical cluster: all in it', 'team', undefined, {}, ['team//bank', 'team//shop']],
    ['of a logical cluster: where it selects', 'team', undefined, { names: ['web'] }, ['team//shop']],
    ['of root: everywhere', 'root', undefined, {}, ['root//bank', 'root//shop', 'team//bank', 'team//shop']],
    [
      'of root: by labels of Namespaces',
      'root',
      undefined,
      { namespaceSelector: { matchLabels: { stage: 'prod' } } },
      ['root//shop', 'team//shop'],
    ],
    ['of a kind that is not there', 'root', undefined, { kinds: [{ kind: 'Job' }] }, []],
  ])('%s', (_what, cluster, namespace, selector, expected) => {
    const { answer, policy, cacheOf } = follow();
    const made = policy(cluster, namespace, { selector: selector ?? {} });
    cacheOf(namespace).put(made);
    expect(answer(), 'made').toEqual(expected);
    cacheOf(namespace).put({ ...made, metadata: { ...made.metadata, labels: { a: 'b' } } });
    expect(answer(), 'labelled').toEqual([]);
    cacheOf(namespace).remove(made);
    expect(answer(), 'deleted').toEqual(expected);
  });

  it('whom it selected before a change as well', () => {
    const { answer, policy, cacheOf } = follow();
    cacheOf(undefined).put(policy('root', undefined, { selector: { namespaces: ['shop'] } }));
    answer();
    cacheOf(undefined).put(policy('root', undefined, { selector: { namespaces: ['bank'] } }));
    expect(answer()).toEqual(['root//bank', 'root//shop', 'team//bank', 'team//shop']);
  });
});
