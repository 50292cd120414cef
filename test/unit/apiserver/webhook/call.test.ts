import { expect, test, vi } from 'vitest';
import { Egress } from '../../../../apiserver/egress/dial.ts';
import { WebhookCaller } from '../../../../apiserver/webhook/call.ts';
import { AnswerRoom } from '../../../../apiserver/webhook/room.ts';
import type { JsonObject } from '../../../../kube/object.ts';
import { eventually } from '../../../eventually.ts';
import { byteByByte, heapGauge } from '../../../heap.ts';

/** Long answers that are being read. */
const reading = vi.hoisted(() => ({ now: 0, most: 0, done: 0 }));

vi.mock('../../../../kube/json.ts', async (original) => {
  const json = await original<typeof import('../../../../kube/json.ts')>();
  const decodeJsonInTurns: typeof json.decodeJsonInTurns = async (bytes, others) => {
    if (bytes === short) return json.decodeJsonInTurns(bytes, others);
    reading.most = Math.max(reading.most, ++reading.now);
    try {
      return await json.decodeJsonInTurns(bytes, others);
    } finally {
      reading.now--;
      reading.done++;
    }
  };
  return { ...json, decodeJsonInTurns };
});

const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' };
const short = Buffer.from(JSON.stringify({ ...review, response: { allowed: true } }));
const long = Buffer.from(JSON.stringify({ ...review, response: Array(60_000).fill({}) }));
const malformed = Buffer.from(`${long.toString()}]`);

function callerOf(answered = { bodies: 0 }, answer?: () => Iterable<Uint8Array>, room?: AnswerRoom) {
  const resolve = async (_: string, { url }: { url?: string }) => ({
    path: '/hook',
    transport: async () => {
      answered.bodies++;
      return { status: 200, headers: {}, body: answer?.() ?? bodies[new URL(url ?? '').pathname] ?? short };
    },
  });
  return new WebhookCaller(resolve as never, new Egress(), undefined, room);
}
const bodies: Record<string, Uint8Array> = { '/long': long, '/malformed': malformed };

const callOf = (cluster: string, path: string, timeoutSeconds = 30, signal?: AbortSignal) => ({
  cluster,
  config: { url: `https://hook.example.com${path}` },
  timeoutSeconds,
  review: review as JsonObject,
  ...(signal && { signal }),
});

/** Whoever takes answers, for as long as the test says. */
function taker() {
  const taken: { cluster: string; done(): void }[] = [];
  const take = (cluster: string) => () =>
    new Promise<string>((resolve) => taken.push({ cluster, done: () => resolve(cluster) }));
  return { taken, take };
}

test('of long answers one of each logical cluster is read at a time, two of all, and short ones at once', async () => {
  Object.assign(reading, { now: 0, most: 0, done: 0 });
  const caller = callerOf();
  const ofOne = Array.from({ length: 6 }, () => caller.post(callOf('a', '/long'), async () => reading.now));
  await caller.post(callOf('a', '/short'), (answer) => expect(answer['response']).toEqual({ allowed: true }));
  expect(reading.done).toBeLessThan(6);
  await Promise.all(ofOne);
  expect(reading.most).toBe(1);
  reading.most = 0;
  await Promise.all(
    ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'].map((cluster) =>
      caller.post(callOf(cluster, '/long'), async () => 1),
    ),
  );
  expect([reading.most, reading.now]).toEqual([2, 0]);
});

test('until a long answer is made use of the next is not read, whatever becomes of it', async () => {
  const caller = callerOf();
  const { taken, take } = taker();
  const posted = ['a', 'a', 'a', 'b', 'c', 'd'].map((cluster) =>
    caller.post(callOf(cluster, '/long'), take(cluster)),
  );
  const failed = caller.post(callOf('a', '/malformed'), take('malformed'));
  const thrown = caller.post(callOf('a', '/long'), () => Promise.reject(new Error('of no use')));
  const last = caller.post(callOf('a', '/long'), take('last'));
  await Promise.all([
    expect(failed).rejects.toThrow('cannot unmarshal string into Go value'),
    expect(thrown).rejects.toThrow('of no use'),
    (async () => {
      for (let turn = 0; turn < 7; turn++) {
        await eventually(() => expect(taken.length).toBeGreaterThan(turn));
        expect(taken.length - turn).toBeLessThanOrEqual(2);
        taken[turn]?.done();
      }
    })(),
  ]);
  expect(await Promise.all([...posted, last])).toEqual(['a', 'a', 'a', 'b', 'c', 'd', 'last']);
  // Whose logical cluster waits for its own lets others go first.
  expect(taken.slice(0, 4).map(({ cluster }) => cluster)).not.toEqual(['a', 'a', 'a', 'b']);
});

test.each(['a', 'c'])('who waits for it has its timeout, and may leave (%s)', async (cluster) => {
  const answered = { bodies: 0 };
  const caller = callerOf(answered);
  const { taken, take } = taker();
  const holding = ['a', 'b'].map((one) => caller.post(callOf(one, '/long'), take(one)));
  await eventually(() => expect(taken).toHaveLength(2));
  const leaving = new AbortController();
  const left = caller.post(callOf(cluster, '/long', 30, leaving.signal), take('left'));
  await eventually(() => expect(answered.bodies).toBe(3));
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('context canceled');
  await expect(caller.post(callOf(cluster, '/long', 1), take('late'))).rejects.toThrow(
    'Post "https://hook.example.com/long?timeout=1s": context deadline exceeded',
  );
  for (const one of taken) one.done();
  await Promise.all(holding);
  await expect(caller.post(callOf(cluster, '/long'), async () => 'read')).resolves.toBe('read');
});

test('an answer whose kind is no text is none', async () => {
  const odd = Buffer.from(JSON.stringify({ ...review, kind: { toString: 1, valueOf: 1 } }));
  await expect(
    callerOf(undefined, () => [odd]).post(callOf('a', '/odd'), async () => 'read'),
  ).rejects.toThrow(
    "couldn't get version/kind; json parse error: json: cannot unmarshal object into Go struct field .kind of type string",
  );
});

test('who leaves while its answer is read ends that, and gives its place to the next', async () => {
  Object.assign(reading, { now: 0, most: 0, done: 0 });
  const caller = callerOf();
  const leaving = new AbortController();
  const { taken, take } = taker();
  const left = caller.post(callOf('a', '/long', 30, leaving.signal), take('left'));
  while (reading.now === 0) await new Promise((next) => setImmediate(next));
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('context canceled');
  expect([reading.now, taken.length]).toEqual([0, 0]);
  await expect(caller.post(callOf('a', '/long'), async () => 'read')).resolves.toBe('read');
});

test('an answer that comes byte by byte takes no more memory than one that comes at once', async () => {
  const grown = heapGauge();
  let most = Infinity;
  const answer = () => byteByByte(long, () => (most = grown()));
  const caller = callerOf(undefined, answer as () => Generator<Uint8Array>);
  await expect(caller.post(callOf('a', '/long'), async () => 'read')).resolves.toBe('read');
  expect(most).toBeLessThan(2_000_000);
});

test('long answers that wait are so many bytes, of which a logical cluster leaves as many as it takes; short ones always come', async () => {
  const { taken, take } = taker();
  const caller = callerOf({ bodies: 0 }, undefined, new AnswerRoom(4 * long.length));
  const of = (cluster: string, path = '/long') => caller.post(callOf(cluster, path), take(cluster));
  const kept = [of('a'), of('a')];
  await expect(of('a')).rejects.toThrow('too many long responses of webhooks wait to be read');
  kept.push(of('b'));
  await expect(of('b')).rejects.toThrow('too many long');
  kept.push(of('a', '/short'));
  for (let turn = 0; turn < 4; turn++) {
    await eventually(() => expect(taken.length).toBeGreaterThan(turn));
    taken[turn]?.done();
  }
  expect(await Promise.all(kept)).toEqual(['a', 'a', 'b', 'a']);
  const again = of('a');
  await eventually(() => expect(taken).toHaveLength(5));
  taken[4]?.done();
  expect(await again).toBe('a');
});

test('who has too much to do, and says when it has not, is asked again then, as often as by Kubernetes', async () => {
  const asked: number[] = [];
  const caller = (answers: readonly [status: number, retryAfter?: string][]) => {
    asked.length = 0;
    const transport = async () => {
      const [status, after] = answers[Math.min(asked.length, answers.length - 1)] ?? [200];
      asked.push(status);
      return { status, headers: after === undefined ? {} : { 'retry-after': after }, body: short };
    };
    const resolve = async () => ({ path: '/hook', transport });
    return new WebhookCaller(resolve as never, new Egress());
  };
  const allowed = async () => 'allowed';
  const post = (answers: readonly [status: number, retryAfter?: string][], millis = 30_000) =>
    caller(answers).post({ ...callOf('a', '/hook'), millis }, allowed);

  expect(await post([[429, '0'], [503, '0'], [200]])).toBe('allowed');
  expect(asked).toEqual([429, 503, 200]);
  await expect(post([[429, '0']])).rejects.toThrow('too many requests');
  expect(asked).toHaveLength(11);
  await expect(post([[429, '60']], 50)).rejects.toThrow(/^Post "https:.*": context deadline exceeded$/);
  await expect(post([[500, '99999999999']], 50)).rejects.toThrow(
    /^Post "https:.*": context deadline exceeded$/,
  );
  for (const [status, after] of [[400, '0'], [429], [503, 'Wed, 21 Oct 2015 07:28:00 GMT']] as const) {
    await expect(post([after === undefined ? [status] : [status, after]])).rejects.toThrow();
    expect(asked).toEqual([status]);
  }
});
