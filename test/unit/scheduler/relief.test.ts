import { describe, expect, test } from 'vitest';
import { addResources, subtractResources } from '../../../cluster/pod-spec.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { reliefOf } from '../../../scheduler/relief.ts';
import { cluster } from './world.ts';

type Amounts = Record<string, string | number>;
const resources = (amounts: Amounts) =>
  new Map(Object.entries(amounts).map(([name, amount]) => [name, parseQuantity(amount)]));
const load = (name: string, capacity: Record<string, string> | undefined, used: Amounts) => ({
  name,
  cluster: cluster(name, capacity ? { capacity } : {}),
  used: resources(used),
});

const ten = { cpu: '10' };
describe('what leaving east for west gains', () => {
  test.each<[string, Amounts, [object | undefined, Amounts], [object | undefined, Amounts], string?]>([
    ['much more room', { cpu: 1 }, [ten, { cpu: 6 }], [ten, { cpu: 1 }], 'west has 80 % free, east 40 %'],
    [
      'ten points, with it',
      { cpu: 1 },
      [ten, { cpu: 6 }],
      [ten, { cpu: 4 }],
      'west has 50 % free, east 40 %',
    ],
    ['hardly ten', { cpu: 1 }, [ten, { cpu: 6 }], [ten, { cpu: '4001m' }]],
    ['all of it, as soon as it is there', { cpu: 6 }, [ten, { cpu: 6 }], [ten, {}]],
    [
      'of what is scarce on each',
      { cpu: 1, memory: '1Gi' },
      [
        { cpu: '10', memory: '10Gi' },
        { cpu: 1, memory: '9Gi' },
      ],
      [{ cpu: '10', memory: '100Gi' }, { cpu: 7 }],
      'west has 20 % free, east 10 %',
    ],
    [
      'nothing, where it takes none of what is scarce',
      { cpu: 1 },
      [
        { cpu: '10', memory: '10Gi' },
        { cpu: 1, memory: '9Gi' },
      ],
      [{ cpu: '10', memory: '10Gi' }, {}],
    ],
    [
      'from beyond the bound',
      { cpu: 1 },
      [ten, { cpu: 30 }],
      [ten, { cpu: 8 }],
      'west has 10 % free, east 0 %',
    ],
    [
      'what nodes have none of, and nobody wants, is not scarce',
      { cpu: 1 },
      [{ cpu: '10', 'hugepages-2Mi': '0' }, { cpu: 6 }],
      [{ cpu: '10', 'hugepages-2Mi': '0' }, { cpu: 1 }],
      'west has 80 % free, east 40 %',
    ],
    [
      'one without known limits has all free',
      { pods: 1 },
      [{ pods: '10' }, { pods: 1 }],
      [undefined, { pods: 99 }],
      'west has 100 % free, east 90 %',
    ],
    ['and is not left for one with limits', { pods: 1 }, [undefined, { pods: 99 }], [{ pods: '1k' }, {}]],
    [
      'of two without, a fifth and two pods fewer',
      { pods: 1 },
      [undefined, { pods: 10 }],
      [undefined, { pods: 7 }],
      'west has 8 pods, east 10',
    ],
    ['of many not two', { pods: 1 }, [undefined, { pods: 20 }], [undefined, { pods: 16 }]],
    ['of few not a fifth', { pods: 1 }, [undefined, { pods: 2 }], [undefined, {}]],
    [
      'of two without, two pods',
      { pods: 1 },
      [undefined, { pods: 3 }],
      [undefined, {}],
      'west has 1 pod, east 3',
    ],
    ['of no pods nothing', {}, [undefined, { pods: 9 }], [undefined, {}]],
  ])('%s', (_what, need, [eastHas, eastTakes], [westHas, westTakes], words) => {
    const east = load('east', eastHas as Record<string, string>, eastTakes);
    const west = load('west', westHas as Record<string, string>, westTakes);
    expect(reliefOf(resources(need), east, west)?.words).toBe(words);
    // Nothing goes to and fro.
    if (words === undefined) return;
    const left = { ...east, used: subtractResources(east.used, resources(need)) };
    const joined = { ...west, used: addResources(west.used, resources(need)) };
    expect(reliefOf(resources(need), joined, left)).toBeUndefined();
  });
});
