import { expect, test } from 'vitest';
import type { Client } from '../../../client/client.ts';
import type { Logger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { StatusError } from '../../../kube/status.ts';
import { Labelling } from '../../../syncer/labelling.ts';

const said = 'atoll.dev/labelled';
const mark = 'atoll.dev/logical-cluster';

interface Guard {
  /** Whether somebody else writes just before. */
  before?(): boolean;
  /** Whether the cluster takes a patch of these labels. */
  refuses(labels: Record<string, string | null>): StatusError | undefined;
}

/** A cluster with one namespace, whose labels somebody guards. */
function cluster(labels: Record<string, string>, guard: Guard, now: () => number = () => 0) {
  const annotations: Record<string, string> = {
    [said]: Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(),
  };
  let object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n', uid: 'u', resourceVersion: '1', labels, annotations },
  };
  const patches: Record<string, string | null>[] = [];
  const client = {
    get: async () => object,
    patch: async (_resource: unknown, _target: unknown, _type: string, body: { metadata: PatchOf }) => {
      const { resourceVersion, labels: changed } = body.metadata;
      patches.push(changed);
      if (guard.before?.()) object = next(object, {});
      if (resourceVersion !== object.metadata.resourceVersion)
        throw new StatusError(409, 'Conflict', 'it has changed');
      const refusal = guard.refuses(changed);
      if (refusal) throw refusal;
      const { metadata } = object;
      object = next(object, {
        labels: merged(metadata.labels, changed),
        annotations: merged(metadata.annotations, body.metadata.annotations),
      });
      return object;
    },
  } as unknown as Client;
  const logger = { warn: () => {} } as unknown as Logger;
  const { signal } = new AbortController();
  const labelling = new Labelling({ client, signal, logger, now, written: () => {} });
  return {
    patches,
    labels: () => object.metadata.labels,
    write: (wanted: Record<string, string>) => labelling.write('n', () => object, wanted),
  };
}

function next(object: KubeObject, change: object): KubeObject {
  const { metadata } = object;
  const resourceVersion = String(Number(metadata.resourceVersion) + 1);
  return { ...object, metadata: { ...metadata, ...change, resourceVersion } };
}

interface PatchOf {
  resourceVersion: string;
  labels: Record<string, string | null>;
  annotations: Record<string, string | null>;
}

function merged(into: Record<string, string> = {}, change: Record<string, string | null>) {
  const all = Object.entries({ ...into, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(all) as Record<string, string>;
}

const forbidden = new StatusError(403, 'Forbidden', 'not here');
const refusing = (...bad: string[]): Guard => ({
  refuses: (labels) => (bad.some((key) => Object.hasOwn(labels, key)) ? forbidden : undefined),
});

test('a label that is refused keeps out none of the others, and is told', async () => {
  const there = cluster({ old: 'x', guarded: 'x' }, refusing('bad', 'guarded'));
  const wanted = { bad: 'x', good: 'x', [mark]: 'a' };
  const outstanding = await there.write(wanted);
  expect(outstanding).toEqual({ keys: ['bad', 'guarded'], againMs: 300_000 });
  expect(there.labels()).toEqual({ guarded: 'x', good: 'x', [mark]: 'a' });
});

test('the mark that keeps logical clusters apart is written before all else', async () => {
  const there = cluster({}, refusing('bad'));
  await there.write({ a: 'x', bad: 'x', z: 'x', [mark]: 'a' });
  // All together, nothing at all, and then one by one.
  expect(there.patches.slice(2)[0]).toEqual({ [mark]: 'a' });
});

test('what is refused is asked for again after five minutes, and at once with another value', async () => {
  let now = 0;
  let isOpen = false;
  const guard = { refuses: (labels: object) => ('bad' in labels && !isOpen ? forbidden : undefined) };
  const there = cluster({}, guard, () => now);
  await there.write({ bad: 'x', good: 'x' });
  const asked = there.patches.length;
  isOpen = true;
  now = 299_999;
  expect(await there.write({ bad: 'x', good: 'x' })).toEqual({ keys: ['bad'], againMs: 1 });
  expect(there.patches).toHaveLength(asked);
  await there.write({ bad: 'y', good: 'x' });
  expect(there.labels()).toEqual({ bad: 'y', good: 'x' });
  now = 300_000;
  expect(await there.write({ bad: 'x', good: 'x' })).toBeUndefined();
  expect(there.labels()).toEqual({ bad: 'x', good: 'x' });
});

test('where nothing at all may be written it is not asked for each', async () => {
  const there = cluster({}, { refuses: () => forbidden });
  const wanted = { a: 'x', b: 'x', c: 'x' };
  expect(await there.write(wanted)).toEqual({ keys: ['a', 'b', 'c'], againMs: 300_000 });
  await there.write({ ...wanted, d: 'x' });
  expect(there.patches).toHaveLength(2);
});

test.each([
  [401, 'Unauthorized'],
  [404, 'NotFound'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
] as const)('%i is no refusal', async (code, reason) => {
  let isDown = true;
  const down = new StatusError(code, reason, 'not now');
  const there = cluster({}, { refuses: () => (isDown ? down : undefined) });
  await expect(there.write({ a: 'x' })).rejects.toMatchObject({ code });
  isDown = false;
  expect(await there.write({ a: 'x' })).toBeUndefined();
  expect(there.labels()).toEqual({ a: 'x' });
});

test.each([
  [4, true],
  [5, false],
])('whoever writes at the same time, %i times, is waited for: %s', async (times, isDone) => {
  let others = times;
  const there = cluster({}, { refuses: () => undefined, before: () => others-- > 0 });
  const outstanding = await there.write({ a: 'x' });
  expect(outstanding).toEqual(isDone ? undefined : { keys: [], againMs: 1_000 });
  expect(there.labels()).toEqual(isDone ? { a: 'x' } : {});
});

test('of one namespace one is written at a time: the next finds what the first has learned', async () => {
  const there = cluster({}, refusing('bad'));
  const wanted = { bad: 'x', good: 'x' };
  const answers = await Promise.all([there.write(wanted), there.write(wanted), there.write(wanted)]);
  expect(answers.map((answer) => answer?.keys)).toEqual([['bad'], ['bad'], ['bad']]);
  expect(there.patches.filter((labels) => 'bad' in labels)).toHaveLength(2);
});
