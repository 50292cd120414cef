import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import { heartbeatsIn, withHeartbeat } from '../../../cluster/heartbeats.ts';
import { silentMsOf } from '../../../cluster/silence.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import { sleep } from '../../../kube/clock.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { Rounds } from '../../../kube/rounds.ts';
import { runHeartbeat } from '../../../syncer/heartbeat.ts';
import { Heartbeats } from '../../../syncer/heartbeats.ts';
import { Outage } from '../../../syncer/outage.ts';
import { Questions } from '../../../syncer/questions.ts';
import { Home } from '../../../syncer/rest.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const forever = 3_600_000;
const answer = (status: number, body: object): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});

/** How long the cluster takes for each beat's look, and for what it serves; what is left out is at once. */
interface Pace {
  looks?: (beat: number) => number;
  served?: number;
  busy?: (beat: number) => boolean;
  /** Whether nothing of ours is there, after so many looks. */
  rests?: (beats: number) => boolean;
  /** What is no news is said with others: how long that write takes, or that it fails. */
  together?: (write: number) => number | 'fails';
}

/** How long before others would have taken it for silent a word came at the latest, in ten minutes after the first; how often it was asked. */
async function least({
  looks = () => 0,
  served = 0,
  busy = () => false,
  rests = () => false,
  together,
}: Pace): Promise<{ leftMs: number; beats: number }> {
  const stop = new AbortController();
  let cluster: PhysicalCluster = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PhysicalCluster',
    metadata: { name: 'east' },
  };
  const upstream = async ({ method, body }: ApiRequest) => {
    if (method === 'PATCH') {
      const { status } = JSON.parse(Buffer.from(body ?? []).toString());
      cluster = { ...cluster, status: { ...cluster.status, ...status } };
    }
    return answer(200, cluster);
  };
  let [beats, lastAsked] = [0, Number.NEGATIVE_INFINITY];
  const there = async ({ url, signal }: ApiRequest) => {
    // What it serves follows what it was asked before at once, or is what a beat begins with.
    const isLook = url.includes('/namespaces') || (url === '/apis' && Date.now() - lastAsked > 1_000);
    lastAsked = Date.now();
    if (isLook) beats++;
    const ms = Math.max(isLook ? looks(beats) : 0, url === '/apis' ? served : 0);
    if (ms > 0) await sleep(ms, signal ?? stop.signal);
    lastAsked = Date.now();
    signal?.throwIfAborted();
    if (isLook && busy(beats)) return answer(429, { kind: 'Status', code: 429, reason: 'TooManyRequests' });
    const list = { items: [], groups: [], resources: [] };
    return answer(200, { metadata: { uid: 'u' }, gitVersion: 'v1.36.3', ...list });
  };
  let heard: number | undefined;
  let leaseWrites = 0;
  const leases = async ({ body, signal }: ApiRequest) => {
    const fate = together?.(++leaseWrites) ?? 0;
    if (fate === 'fails') return answer(500, { kind: 'Status', code: 500, reason: 'InternalError' });
    if (fate > 0) await sleep(fate, signal ?? stop.signal);
    signal?.throwIfAborted();
    heard = heartbeatsIn(JSON.parse(Buffer.from(body ?? []).toString())).get('east');
    return answer(200, {});
  };
  const clock = new Rounds();
  const client = new Client(there);
  const home = new Home(client, { note: () => undefined });
  const heartbeats = new Heartbeats({
    client: new Client(leases, { cluster: 'root' }),
    told: { unchanged: () => [] },
    signal: stop.signal,
    logger: silentLogger,
    clock,
    intervalMs: 10_000,
  });
  const saying = heartbeats.run();
  const beating = runHeartbeat({
    name: 'east',
    upstream: new Client(upstream),
    client,
    signal: stop.signal,
    logger: silentLogger,
    outage: new Outage('east', silentLogger),
    intervalMs: 10_000,
    questions: new Questions(clock),
    offers: () => undefined,
    nodeLabels: () => undefined,
    unreadable: { list: () => ({ Forbidden: [], Endless: [], Unanswered: [] }), isWatched: true },
    namespaces: () => undefined,
    rests: () => rests(beats),
    hasHome: (soon) => home.ask(soon),
    ...(together && {
      together: {
        note: (began: number, again: () => void, mayWait: boolean) =>
          heartbeats.note('east', began, again, mayWait),
        heardAt: () => heard,
        seen: () => undefined,
      },
    }),
  });
  let leftMs = Number.POSITIVE_INFINITY;
  for (let at = 0; at < 600_000; at += 50) {
    await vi.advanceTimersByTimeAsync(50);
    const last = withHeartbeat(cluster, heard).status?.lastHeartbeatTime;
    if (last !== undefined) leftMs = Math.min(leftMs, Date.parse(last) + silentMsOf(cluster) - Date.now());
  }
  stop.abort();
  await vi.advanceTimersByTimeAsync(forever);
  await Promise.all([beating, saying]);
  return { leftMs, beats };
}

test.each([
  ['answers at once', {}],
  ...[1, 2, 3, 4, 5, 6].map((beat): [string, Pace] => [
    `hangs from its look ${beat} on`,
    { looks: (at) => (at >= beat ? forever : 0) },
  ]),
  ...[2, 3, 4, 5].map((beat): [string, Pace] => [
    `answers late at its look ${beat}`,
    { looks: (at) => (at === beat ? 9_900 : 0), served: 9_900 },
  ]),
  ['is slow ever after its first', { looks: (at: number) => (at > 1 ? 9_900 : 0), served: 9_900 }],
  ['hangs when asked what it serves', { served: forever }],
  ['is told of with others', { together: () => 0 }],
  ['is told of with others, slowly', { together: () => 2_900 }],
  ['is told of with others, in vain at times', { together: (write: number) => (write % 3 ? 0 : 'fails') }],
  [
    'is told of with others, in vain from some time on',
    { together: (write: number) => (write > 4 ? 'fails' : 0) },
  ],
  [
    'is told of with others, which hangs from some time on',
    { together: (write: number) => (write > 4 ? forever : 0) },
  ],
  [
    'is told of with others, and hangs later',
    { together: () => 2_900, looks: (at: number) => (at > 9 ? forever : 0) },
  ],
  [
    'is told of with others, and is slow',
    { together: () => 2_900, looks: (at: number) => (at > 1 ? 9_900 : 0), served: 9_900 },
  ],
  ['is busy at times', { busy: (at: number) => at % 3 !== 0 }],
  [
    'is busy, and then hangs',
    { busy: (at: number) => at === 4, looks: (at: number) => (at > 4 ? forever : 0) },
  ],
  ['comes to rest', { rests: (at: number) => at > 5 }],
  ['rests, and gets something', { rests: (at: number) => at < 8 }],
  ['rests at times', { rests: (at: number) => at % 3 !== 0 }],
] as [string, Pace][])(
  'a word comes before others take it for silent of a cluster that %s',
  async (_what, pace) => {
    expect((await least(pace)).leftMs).toBeGreaterThan(0);
    const resting = { ...pace, rests: pace.rests ?? (() => true) };
    expect((await least(resting)).leftMs, 'and that rests').toBeGreaterThan(0);
  },
);

test.each([
  [false, 31],
  [true, 14],
])('in ten minutes it is asked so often (where it rests: %s): %s', async (isResting, most) => {
  const { beats } = await least({ rests: () => isResting, together: () => 0 });
  expect(beats).toBeGreaterThan(most / 2);
  expect(beats).toBeLessThanOrEqual(most + 3);
});
