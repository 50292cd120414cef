import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import { heartbeatsIn } from '../../../cluster/heartbeats.ts';
import { silentAfterMs } from '../../../cluster/silence.ts';
import type { ApiRequest } from '../../../kube/http.ts';
import { type Logger, silentLogger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Rounds } from '../../../kube/rounds.ts';
import { Heartbeats } from '../../../syncer/heartbeats.ts';

const intervalMs = 10_000;
/** In which a word is written, to the round. */
const soonMs = intervalMs / 2 + 1_000;

let stop: AbortController;
let lease: KubeObject | undefined;
let writes: string[];
let deleted: string[];
/** What becomes of the next writes; what is left out goes well. */
let fates: ('fails' | 'hangs')[];
let warned: string[];
let stale: string[];
let heartbeats: Heartbeats;
let running: Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
  [lease, writes, deleted, fates, warned, stale] = [undefined, [], [], [], [], []];
  const { signal } = stop;
  const logger: Logger = { ...silentLogger, warn: (_, message) => warned.push(message) };
  const client = new Client(server, { cluster: 'root' });
  const told = { unchanged: () => stale };
  heartbeats = new Heartbeats({ client, told, signal, logger, clock: new Rounds(), intervalMs });
  running = heartbeats.run();
});
afterEach(async () => {
  stop.abort();
  await vi.advanceTimersByTimeAsync(60_000);
  await running;
  vi.useRealTimers();
});

async function server({ method, url, body, signal }: ApiRequest) {
  const answer = (status: number, object: object) => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(object)),
  });
  if (method === 'DELETE') {
    deleted.push(url.split('/').at(-1) ?? '');
    return answer(200, { kind: 'Status' });
  }
  writes.push(method);
  const fate = fates.shift();
  if (fate === 'fails') return answer(500, { kind: 'Status', code: 500, reason: 'InternalError' });
  if (fate === 'hangs')
    return await new Promise<never>((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    );
  if (method === 'PATCH' && !lease) return answer(404, { kind: 'Status', code: 404, reason: 'NotFound' });
  lease = JSON.parse(Buffer.from(body ?? []).toString()) as KubeObject;
  return answer(200, lease);
}

const said = () => (lease ? heartbeatsIn(lease) : new Map<string, number>());
const ignore = () => {};
const soon = () => vi.advanceTimersByTimeAsync(soonMs);

async function works(): Promise<void> {
  heartbeats.note('first', Date.now(), ignore);
  await soon();
  writes = [];
}

test('nobody relies on it before a first write was acknowledged', async () => {
  const began = Date.now();
  expect(heartbeats.note('east', began, ignore)).toBe(false);
  await soon();
  expect(said().get('east')).toBe(began);
  expect(heartbeats.note('east', Date.now(), ignore)).toBe(true);
});

test('of however many clusters it is said in one write, and where nothing is to be said there is none', async () => {
  await works();
  const began = Date.now();
  for (let i = 0; i < 1000; i++) expect(heartbeats.note(`c-${i}`, began, ignore)).toBe(true);
  await soon();
  expect(writes).toEqual(['PATCH']);
  expect(said().size).toBe(1001);
  expect(said().get('c-999')).toBe(began);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(writes).toEqual(['PATCH']);
});

test('words of those that may be silent for long wait twice as long for others, unless one comes that may not', async () => {
  await works();
  heartbeats.note('east', Date.now(), ignore, true);
  await soon();
  expect(writes).toEqual([]);
  await soon();
  expect(writes).toEqual(['PATCH']);
  heartbeats.note('east', Date.now(), ignore, true);
  heartbeats.note('west', Date.now(), ignore);
  await soon();
  expect(writes).toEqual(['PATCH', 'PATCH']);
  heartbeats.note('east', Date.now(), ignore, true);
  await soon();
  heartbeats.note('west', Date.now(), ignore);
  await soon();
  expect(writes).toEqual(['PATCH', 'PATCH', 'PATCH']);
});

test('what was noted last is said by whoever stops', async () => {
  await works();
  const began = Date.now();
  heartbeats.note('east', began, ignore);
  stop.abort();
  await running;
  expect(said().get('east')).toBe(began);
  expect(writes).toEqual(['PATCH']);
});

test('one write that fails is made again at once', async () => {
  await works();
  fates = ['fails'];
  const began = Date.now();
  let lost = 0;
  heartbeats.note('east', began, () => lost++);
  await soon();
  expect(said().get('east')).toBe(began);
  expect(lost).toBe(0);
});

test.each(['fails', 'hangs'] as const)(
  'where it %s each cluster speaks for itself, until it works again',
  async (fate) => {
    await works();
    fates = [fate, fate, fate, fate];
    let lost = 0;
    expect(heartbeats.note('east', Date.now(), () => lost++)).toBe(true);
    await soon();
    // As long as it may hang, twice.
    await vi.advanceTimersByTimeAsync(6_000);
    expect(lost).toBe(1);
    expect(warned).toHaveLength(1);
    expect(heartbeats.note('east', Date.now(), () => lost++)).toBe(false);
    await soon();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(lost, 'of what was said otherwise nothing is lost').toBe(1);
    const began = Date.now();
    expect(heartbeats.note('east', began, ignore)).toBe(false);
    await soon();
    expect(said().get('east')).toBe(began);
    expect(heartbeats.note('east', Date.now(), ignore)).toBe(true);
  },
);

test('what was not heard of for long is named no more', async () => {
  await works();
  heartbeats.note('east', Date.now(), ignore);
  await soon();
  expect(said().has('east')).toBe(true);
  // For as long as anybody may wait before it counts as silent, and longer.
  await vi.advanceTimersByTimeAsync(10 * silentAfterMs);
  heartbeats.note('west', Date.now(), ignore);
  await soon();
  expect([...said().keys()]).toEqual(expect.arrayContaining(['east', 'west']));
  await vi.advanceTimersByTimeAsync(60 * intervalMs - 10 * silentAfterMs);
  heartbeats.note('west', Date.now(), ignore);
  await soon();
  expect([...said().keys()]).toEqual(['west']);
});

test('whoever finds no room speaks for itself, and finds some once others have gone', async () => {
  await works();
  const name = (i: number) => `${i}-`.padEnd(200, 'x');
  let room = 0;
  while (heartbeats.note(name(room), Date.now(), ignore)) room++;
  expect(room).toBeGreaterThan(500);
  await soon();
  expect(said().has(name(room - 1))).toBe(true);
  expect(said().has(name(room))).toBe(false);
  expect(heartbeats.note(name(0), Date.now(), ignore), 'whoever is named already stays so').toBe(true);
  await vi.advanceTimersByTimeAsync(61 * intervalMs);
  heartbeats.note(name(0), Date.now(), ignore);
  await soon();
  expect(heartbeats.note(name(room), Date.now(), ignore)).toBe(true);
});

test('what servers that are gone had said is taken away, and nothing else that bears the label', async () => {
  const gone = 'atoll-00000000-0000-4000-8000-000000000000';
  stale = [gone, 'of-a-user'];
  await works();
  expect(deleted).toEqual([gone]);
});
