import { describe, expect, it } from 'vitest';
import type { Client } from '../../../client/client.ts';
import type { Placement, Share } from '../../../cluster/types.ts';
import type { Want } from '../../../splitter/copies.ts';
import { writeCopies } from '../../../splitter/copy-write.ts';

const trip = '2026-11-28T07:00:00.000Z';
const want: Want = { claim: 'data-db-2', from: 'a', to: 'b', trip, state: 'missing' };
const held: Share = { phase: 'Active', replicas: 2, ordinalsStart: 0, held: { replicas: 3, since: trip } };
const on = (b: Share, a: Share = held): Placement => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'Placement',
  metadata: { name: 'db.statefulsets.apps', namespace: 'shop' },
  spec: {
    ref: {
      group: 'apps',
      version: 'v1',
      resource: 'statefulsets',
      kind: 'StatefulSet',
      name: 'db',
      uid: 'u',
    },
    clusters: ['b'],
    shares: { a, b },
  },
});
const waits: Share = { phase: 'Active', replicas: 0, ordinalsStart: 3 };

/** What is asked for by a cache that says `then`, where `now` is stored. */
async function asked(then: Placement, now: Placement | undefined): Promise<string[]> {
  const made: string[] = [];
  const client = {
    get: async () => now,
    create: async (_: object, { metadata }: Placement) => void made.push(metadata.name ?? ''),
  } as unknown as Client;
  const { signal } = new AbortController();
  const step = { wants: [want], failures: [], remove: [] };
  await writeCopies('root', then, step, { client, signal, copierBetween: () => 'c' });
  return made;
}

describe('a copy that is missing, as a cache says,', () => {
  it('is asked for while what it is for stands still', async () => {
    expect(await asked(on(waits), on(waits))).toEqual(['data-db-2']);
  });

  it.each<[string, Placement | undefined]>([
    ['is nowhere any more', undefined],
    ['runs where it was', on(waits, { phase: 'Active', replicas: 3, ordinalsStart: 0 })],
    ['stands still since another time', on(waits, { ...held, held: { replicas: 3, since: 'later' } })],
    [
      'runs where it is to be, as its copy was there',
      on({ phase: 'Joining', replicas: 1, ordinalsStart: 2 }),
    ],
  ])('is not, where it is for what %s', async (_what, now) => {
    expect(await asked(on(waits), now)).toEqual([]);
  });
});
