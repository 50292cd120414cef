import { describe, expect, it } from 'vitest';
import { bugs, lateEndpoints } from '../simulate/bugs.ts';
import type { History } from '../simulate/history.ts';
import { moves, runChild } from '../simulate/part.ts';

const seed = 7;
const w = { kind: 'Deployment' as const, name: 'w1', replicas: 3, on: 'a', maxUnavailable: 0 };
const move: History = {
  workloads: [w],
  actions: [
    { at: 100_000, do: 'die', who: 'splitter', writes: 1, happened: false },
    { at: 100_000, do: 'place', workload: 'w1', on: 'b' },
  ],
};

describe('the simulation of histories', () => {
  it.each(bugs)('can put in the fault $name: its place is in the code of today', async ({ name: bug }) => {
    const { signal } = new AbortController();
    await expect(moves.prepare({ directory: '', signal, bug })).resolves.toBeTypeOf('function');
  });

  it('finds a move through a death of the splitter in order, and makes the same of the same seed', async () => {
    const [one, two] = await Promise.all([
      runChild({ seed, history: move }),
      runChild({ seed, history: move }),
    ]);
    expect(one?.failures).toEqual([]);
    expect(one?.counts).toMatchObject({ place: 1, died: 1 });
    expect(two).toEqual(one);
  });

  it('notices numbers of a cluster that lies, where they are told on', async () => {
    const lying: History = {
      workloads: [{ ...w, replicas: 5, on: 'a,b' }],
      actions: [
        { at: 1000, do: 'lie', on: 'a', ms: 40_000 },
        { at: 3000, do: 'fail', workload: 'w1', on: 'a' },
        { at: 8000, do: 'roll', workload: 'w1', image: 'app:2' },
      ],
    };
    const [asItIs, wrong] = await Promise.all([
      runChild({ seed, history: lying }),
      runChild({ seed, history: lying }, 'believes-numbers'),
    ]);
    expect(asItIs?.failures).toEqual([]);
    expect(wrong?.failures[0]).toMatch(/w1 says \w+ -\d/);
  });

  it('notices counts of a spread that are not kept', async () => {
    const spread: History = {
      workloads: [{ ...w, replicas: 5, on: 'a,b' }],
      actions: [
        { at: 1000, do: 'policy', workload: 'w1', spec: null, free: true },
        { at: 3000, do: 'spread', workload: 'w1', over: 'region us=4,eu=1' },
      ],
    };
    const [asItIs, wrong] = await Promise.all([
      runChild({ seed, history: spread }),
      runChild({ seed, history: spread }, 'spreads-evenly'),
    ]);
    expect(asItIs?.failures).toEqual([]);
    expect(wrong?.failures[0]).toContain('w1 has 3 in us, and is to have 4');
  });

  it('notices a Service that leads nobody to what has come back, on which nobody counts until then', async () => {
    const back: History = {
      workloads: [{ ...w, served: true }],
      actions: [
        { at: 1000, do: 'place', workload: 'w1', on: 'b' },
        { at: 14_000, do: 'place', workload: 'w1', on: 'a' },
      ],
    };
    const [asItIs, wrong] = await Promise.all([
      runChild({ seed, history: back }),
      runChild({ seed, history: back }, 'stays-withdrawn'),
    ]);
    expect(asItIs?.failures).toEqual([]);
    expect(wrong?.failures.join('\n')).toContain('Service w1 is withdrawn on a');
    expect(wrong?.failures.join('\n')).not.toContain('that a Service leads to');
  });

  it('what is wanted again where it was withdrawn is led to before others shrink', async () => {
    const again = {
      workloads: [
        { kind: 'Deployment', name: 'w1', replicas: 4, on: 'a,b', maxUnavailable: '25%', served: true },
      ],
      actions: [
        { at: 8668, do: 'place', workload: 'w1', on: 'c' },
        { at: 10_845, do: 'die', who: 'splitter', writes: 2, happened: true },
        { at: 20_507, do: 'place', workload: 'w1', on: 'b' },
        { at: 21_010, do: 'spread', workload: 'w1', over: 'region' },
        { at: 31_710, do: 'place', workload: 'w1', on: '' },
      ],
    } satisfies History;
    expect((await runChild({ seed: 16, history: again })).failures).toEqual([]);
  });

  it('what leaves waits for the endpoints of what is ready elsewhere, and notices when it does not', async () => {
    const [asItIs, wrong] = await Promise.all([
      runChild({ seed, history: lateEndpoints }),
      runChild({ seed, history: lateEndpoints }, 'unled'),
    ]);
    expect(asItIs?.failures).toEqual([]);
    expect(wrong?.failures[0]).toMatch(
      /w1 has \d ready pods that a Service leads to, and must not have fewer/,
    );
  });

  it('notices that what leaves goes first', async () => {
    const { failures } = await runChild({ seed, history: move }, 'break-before-make');
    expect(failures[0]).toContain('w1 has 0 ready pods, and must not have fewer than 3 of 3');
  });
});
