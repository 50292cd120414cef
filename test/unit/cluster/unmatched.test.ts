import { expect, test } from 'vitest';
import { unmatched } from '../../../cluster/unmatched.ts';
import type { KubeObject } from '../../../kube/object.ts';

const cluster = (name: string, region?: string): KubeObject => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name, ...(region && { labels: { region } }) },
});
const fleet = [cluster('east', 'us'), cluster('west')];

test.each<[object, string[]]>([
  [{ names: ['east'], groups: [['west']] }, []],
  [{ names: ['est', 'mars'] }, [': no physical cluster is named est, mars yet']],
  [{ groups: [['east'], ['wst']] }, [': no physical cluster is named wst yet']],
  [{ exclude: ['est'] }, ['.exclude: no physical cluster is named est yet']],
  [{ labelSelector: { matchLabels: { region: 'us' } } }, []],
  [
    { labelSelector: { matchLabels: { regon: 'us' } } },
    ['.labelSelector: no physical cluster has such labels yet'],
  ],
  // Refused for itself.
  [{ labelSelector: { matchExpressions: [{ key: 'a', operator: 'Inn' }] } }, []],
  [{ expression: 'cluster.name == "east"' }, []],
  [{ expression: 'cluster.name == "est"' }, ['.expression: it is true of no physical cluster yet']],
  [
    { expression: 'cluster.nme == "east"' },
    ['.expression: it is true of no physical cluster yet: no such key: nme'],
  ],
  [
    { expression: 'cluster.name' },
    ['.expression: it is true of no physical cluster yet: must evaluate to bool'],
  ],
  [{ spread: { topologyKey: 'region' } }, []],
  [{ spread: { topologyKey: 'regon' } }, ['.spread: no physical cluster has the label regon yet']],
  [
    { spread: { topologyKey: 'region', replicas: { us: 1, uk: 2 } } },
    ['.spread: no physical cluster has region uk yet'],
  ],
  [{ spread: { topologyKey: 'cluster', replicas: { east: 1 } } }, []],
  [{ names: 'est', spread: 'region', labelSelector: 'x', expression: 3 }, []],
])('of what %j asks for there is none', (clusters, why) => {
  expect([...unmatched(clusters, fleet)].map((pair) => pair.join(': '))).toEqual(why);
});

test('an expression is asked of so many clusters and no more', () => {
  const many = Array.from({ length: 51 }, (_, i) => cluster(`c${i}`));
  expect([...unmatched({ expression: 'false' }, many)]).toEqual([]);
});
