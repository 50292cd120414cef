import { expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { newSlice, type PlacementSlice, withSlices } from '../../../cluster/slices.ts';
import type { Condition, Placement, Share } from '../../../cluster/types.ts';
import type { Transport } from '../../../kube/http.ts';
import { nothingCopied } from '../../../splitter/copy-step.ts';
import { writePlacement } from '../../../splitter/write.ts';

const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'u',
};
const active: Share = { phase: 'Active', replicas: 2 };
const leaving: Share = { phase: 'Leaving', replicas: 2 };
const settled = { type: 'Settled', status: 'True', reason: 'Settled', message: '' } as Condition;
const absent = { present: false };

function placement(shares: Record<string, Share>): Placement {
  const metadata = { name: 'web.deployments.apps', namespace: 'x', uid: 'p', resourceVersion: '10' };
  const spec = { ref, clusters: ['west'], shares };
  return { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement', metadata, spec, status: { conditions: [] } };
}

/** What was said at revision 7 of each. */
function saidOf(of: Placement, ...clusters: string[]): Map<string, PlacementSlice> {
  const all = clusters.map((cluster) => newSlice(of, cluster, absent));
  return new Map(
    all.map((slice) => [
      slice.spec?.cluster ?? '',
      { ...slice, metadata: { ...slice.metadata, resourceVersion: '7' } },
    ]),
  );
}

const at = '/clusters/team/apis/atoll.dev/v1alpha1/namespaces/x';
const drop = (cluster: string) => `DELETE /syncers/${cluster}${at}/shares/web.deployments.apps/status 7`;
const whole = `PATCH ${at}/placements/web.deployments.apps 10`;

/** What is asked for, in order, where `refuse` is answered with its code. */
async function asked(
  before: Placement,
  outcome: { shares: Record<string, Share>; stale?: string[] },
  said: string[],
  refuse: Record<string, [number, string]> = {},
  saidOn: Placement = before,
) {
  const requests: string[] = [];
  let revision = 10;
  const transport: Transport = async ({ method, url, body }) => {
    const given = JSON.parse(Buffer.from(body ?? '{}').toString());
    const line = `${method} ${url} ${(given.preconditions ?? given.metadata).resourceVersion}`;
    requests.push(line);
    const [code, reason] = refuse[line] ?? [200, ''];
    if (code !== 200) {
      const answer = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message: reason, code };
      return { status: code, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
    }
    revision += method === 'PATCH' ? 1 : 0;
    // What is written is answered without what clusters say.
    const metadata = { ...before.metadata, resourceVersion: String(revision) };
    const stored = { ...before, metadata, spec: { ...before.spec, ...given.spec } };
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(stored)) };
  };
  const slices = saidOf(saidOn, ...said);
  const told: number[] = [];
  const written = writePlacement(
    'team',
    withSlices(before, slices.values()),
    {
      shares: outcome.shares,
      stale: outcome.stale ?? [],
      conditions: [settled],
      scale: undefined,
      hold: { held: [], without: [] },
      copied: nothingCopied,
      rootStatus: undefined,
    },
    {
      client: new Client(transport, { cluster: '*' }),
      signal: new AbortController().signal,
      said: slices,
      tell: () => told.push(requests.length),
    },
  );
  const failure = await written.then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { requests, told, failure };
}

const toLeave = { shares: { east: leaving, west: active }, stale: ['east'] };

test('what was said of no share, or as it left before, goes before the shares are written, as it was read', async () => {
  const before = placement({ east: active, west: active });
  const shares = { east: active, west: active };
  const none = await asked(before, { shares, stale: ['north'] }, ['north', 'west']);
  expect(none.requests[0]).toBe(drop('north'));
  const former = placement({ east: leaving, west: active });
  const { requests, told, failure } = await asked(before, toLeave, ['east', 'west'], {}, former);
  expect([requests, told, failure]).toEqual([[drop('east'), whole], [2], undefined]);
});

test('that it is not there, said before it is told to leave, stays where that is not written: nobody says it twice', async () => {
  const before = placement({ east: active, west: active });
  const written = await asked(before, toLeave, ['east', 'west']);
  expect([written.requests, written.failure]).toEqual([[whole], undefined]);
  const refused = await asked(before, toLeave, ['east', 'west'], { [whole]: [409, 'Conflict'] });
  expect([refused.requests, refused.failure]).toEqual([[whole], 'Conflict']);
});

test('where another word has come since, nothing is written: it is decided anew', async () => {
  const { requests, failure } = await asked(
    placement({ east: active, west: active }),
    toLeave,
    ['east', 'west'],
    { [drop('east')]: [409, 'Conflict'] },
    placement({ east: leaving, west: active }),
  );
  expect([requests, failure]).toEqual([[drop('east')], 'Conflict']);
});

test('what was said of a share that goes goes after it, if it still goes', async () => {
  const moves = () =>
    asked(placement({ east: leaving, west: active }), { shares: { west: active } }, ['east']);
  expect((await moves()).requests).toEqual([whole, drop('east')]);
  for (const [code, reason] of [
    [409, 'Conflict'],
    [404, 'NotFound'],
  ] as const) {
    const { failure } = await asked(
      placement({ east: leaving, west: active }),
      { shares: { west: active } },
      ['east'],
      { [drop('east')]: [code, reason] },
    );
    expect(failure).toBeUndefined();
  }
});

test('a share stays with what was said of it where the Placement was written meanwhile', async () => {
  const { requests, told, failure } = await asked(
    placement({ east: leaving, west: active }),
    { shares: { west: active } },
    ['east'],
    { [whole]: [409, 'Conflict'] },
  );
  expect([requests, told, failure]).toEqual([[whole], [], 'Conflict']);
});

test('shares and what is said of them are one write', async () => {
  const bodies: object[] = [];
  const before = placement({ west: { phase: 'Joining', replicas: 2 } });
  const transport: Transport = async ({ body }) => {
    bodies.push(JSON.parse(Buffer.from(body ?? '{}').toString()));
    return { status: 200, headers: {}, body: Buffer.from('{}') };
  };
  await writePlacement(
    'team',
    { ...before, status: { conditions: [], bound: ['east'] } },
    {
      shares: { west: active },
      stale: [],
      conditions: [settled],
      scale: undefined,
      hold: { held: [], without: [] },
      copied: nothingCopied,
      rootStatus: undefined,
    },
    {
      client: new Client(transport, { cluster: '*' }),
      signal: new AbortController().signal,
      said: new Map(),
      tell: () => undefined,
    },
  );
  expect(bodies).toEqual([
    {
      metadata: { uid: 'p', resourceVersion: '10' },
      spec: { shares: { west: { phase: 'Active' } } },
      status: { bound: null, conditions: [settled] },
    },
  ]);
});

test('what clusters say is written by nobody else', async () => {
  const shares = { east: active, west: active };
  const { requests } = await asked(placement(shares), { shares }, ['east', 'west']);
  // The conditions alone.
  expect(requests).toEqual([`PATCH ${at}/placements/web.deployments.apps/status 10`]);
});
