import { afterEach, beforeEach, expect, test } from 'vitest';
import { Converter } from '../../../../apiserver/conversion/converter.ts';
import { Left } from '../../../../apiserver/conversion/forms.ts';
import { Keeping, Kept } from '../../../../apiserver/conversion/kept.ts';
import { Versions } from '../../../../apiserver/conversion/versions.ts';
import type { ServedResource } from '../../../../apiserver/served.ts';
import {
  type WebhookCall,
  WebhookCallError,
  type WebhookCaller,
} from '../../../../apiserver/webhook/call.ts';
import type { Take } from '../../../../apiserver/webhook/reading.ts';
import type { Entry } from '../../../../storage/store.ts';
import { group, widget } from '../../../conversion/definition.ts';
import { conversion, hooked, padding, plain, stored } from '../../../conversion/stored.ts';
import { eventually } from '../../../eventually.ts';

let lost: unknown[];
const note = (why: unknown) => lost.push(why);
beforeEach(() => {
  lost = [];
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

const nobody = { post: () => Promise.reject(new Error('asked')) } as unknown as WebhookCaller;
const versionsOf = (served: ServedResource, caller = nobody) =>
  new Versions(new Converter(caller), 'team', () => served);

const shown = ({ value }: Entry) => JSON.parse(Buffer.from(value).toString());

test('where the definition names no webhook any more, what is under way goes on as without one', async () => {
  const versions = versionsOf(plain);
  expect(await versions.shared([])).toEqual([]);
  expect((await versions.shared([stored('a')])).map(shown)).toEqual([widget('v2', 'a', { size: 1 })]);
  expect((await versions.shown([stored('b')])).map(shown)).toEqual([widget('v2', 'b', { size: 1 })]);
  const written = Buffer.from(JSON.stringify(widget('v2', 'c', { size: 2 })));
  expect(JSON.parse(Buffer.from(await versions.stored(written)).toString())).toEqual(
    widget('v1', 'c', { size: 2 }),
  );
  await new Promise((done) => setImmediate(done));
  expect(lost).toEqual([]);
});

test('what cannot be converted is told to whoever asked, and is nobody else’s', async () => {
  const versions = versionsOf(hooked);
  await expect(versions.shared([stored('a'), stored('b')])).rejects.toThrow('asked');
  await expect(versions.shared([])).resolves.toEqual([]);
  await new Promise((done) => setImmediate(done));
  expect(lost).toEqual([]);
});

test('what no webhook makes is not counted with what they make: a long list in another version is answered', async () => {
  const kept = new Kept({ request: 1000, cluster: 1500, all: 2000 });
  const { config: _, ...unhooked } = conversion;
  const versions = new Versions(new Converter(nobody, { kept }), 'team', () => ({
    ...hooked,
    conversion: unhooked,
  }));
  const entries = Array.from({ length: 100 }, (_, index) => stored(`w${index}`));
  const made = await versions.shown(entries, { keeping: new Keeping(kept, 'team') });
  expect(made.map(shown)).toMatchObject(entries.map(() => ({ apiVersion: `${group}/v2` })));
  expect(kept.of('team')).toBe(0);
});

test('a webhook whose answers are more than a request may keep is asked for no more', async () => {
  const calls: WebhookCall[] = [];
  const kept = new Kept({ request: 1_000_000, cluster: 1_500_000, all: 2_000_000 });
  const converter = new Converter(padding('x'.repeat(4000), calls), { kept });
  const versions = new Versions(converter, 'team', () => hooked);
  const entries = Array.from({ length: 1000 }, (_, index) => stored(`w${index}`));
  const keeping = new Keeping(kept, 'team');
  await expect(versions.shown(entries, { keeping })).rejects.toMatchObject({
    code: 500,
    message:
      'what conversion webhooks made of these objects is more than 1000000 bytes: ask for them with a smaller limit',
  });
  expect(calls).toHaveLength(3);
  keeping.release();
  expect(await versions.shown(entries.slice(0, 100), { keeping })).toHaveLength(100);
  expect(kept.of('team')).toBeGreaterThan(400_000);
});

test('an answer is read as far as what was sent lets expect', async () => {
  const calls: WebhookCall[] = [];
  const versions = versionsOf(hooked, padding('', calls));
  await versions.shown([stored('a')]);
  await versions.shown([stored('a'), stored('b')]);
  expect(calls.map(({ maxAnswer }) => maxAnswer?.(1000))).toEqual([4000 + 32 * 1024, 4000 + 2 * 32 * 1024]);
  expect(calls[0]?.maxAnswer?.(3 << 20)).toBe(8 << 20);
});

test('others have their turn while a long list is converted', async () => {
  const versions = versionsOf(hooked, padding('x'.repeat(50_000), []));
  const entries = Array.from({ length: 100 }, (_, index) => stored(`w${index}`, 'y'.repeat(10_000)));
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await versions.shown(entries);
  isDone = true;
  // Of five megabytes a quarter of one each time.
  expect(turns).toBeGreaterThanOrEqual(15);
});

test('what is in the version already is not converted, nor counted in a review', async () => {
  const calls: WebhookCall[] = [];
  const versions = versionsOf(hooked, padding('', calls));
  const there = (name: string): Entry => {
    const entry = stored(name);
    return { ...entry, value: Buffer.from(Buffer.from(entry.value).toString().replace('/v1"', '/v2"')) };
  };
  const entries = Array.from({ length: 300 }, (_, index) =>
    index % 3 === 0 ? stored(`w${index}`) : there(`w${index}`),
  );
  const all = await versions.shown(entries);
  expect(all.map((entry) => shown(entry).metadata.name)).toEqual(entries.map((_, index) => `w${index}`));
  expect(new Set(all.map((entry) => shown(entry).apiVersion))).toEqual(new Set([`${group}/v2`]));
  expect(calls).toHaveLength(1);
});

test('who goes is not waited for, and takes nothing from those who watch the same', async () => {
  const posts: { call: WebhookCall; answer(): void }[] = [];
  const honest = padding('x', []);
  const post = (call: WebhookCall, take: Take<unknown>) =>
    new Promise((resolve, reject) => {
      posts.push({ call, answer: () => resolve(honest.post(call, take)) });
      call.signal?.addEventListener('abort', () => reject(new WebhookCallError('context canceled')));
    });
  const versions = versionsOf(hooked, { post } as unknown as WebhookCaller);
  const leaving = new AbortController();
  const first = versions.shared([stored('a')], { signal: leaving.signal });
  const second = versions.shared([stored('a')], { signal: new AbortController().signal });
  await eventually(() => expect(posts).toHaveLength(1));
  leaving.abort(new Left('gone'));
  await expect(first).rejects.toThrow('gone');
  expect(posts[0]?.call.signal?.aborted).toBe(true);
  await eventually(() => expect(posts).toHaveLength(2));
  posts[1]?.answer();
  expect((await second).map(shown)).toMatchObject([{ metadata: { name: 'a' }, spec: { note: 'x' } }]);
});

test('what a webhook makes for the store is no longer than a body, nor deeper than a schema', async () => {
  const value = Buffer.from(JSON.stringify(widget('v2', 'a', {})));
  const long = versionsOf(hooked, padding('x'.repeat(3 << 20), []));
  await expect(long.stored(value)).rejects.toMatchObject({
    code: 500,
    message: expect.stringMatching(
      /made an invalid .*, Kind=Widget: it is 31\d{5} bytes, the limit is 3145728$/,
    ),
  });
  expect((await versionsOf(hooked, padding('x'.repeat(3_000_000), [])).stored(value)).length).toBeGreaterThan(
    3_000_000,
  );
  let schema: unknown = { type: 'any' };
  let note: unknown = 1;
  for (let depth = 0; depth < 1001; depth++) {
    schema = { type: 'list', items: schema };
    note = [note];
  }
  const versions = new Map(
    [...conversion.versions].map(([name, one]) => [
      name,
      { ...one, schema: { type: 'map', values: { type: 'map', values: schema } } },
    ]),
  );
  const deep = versionsOf(
    { ...hooked, conversion: { ...conversion, versions } } as unknown as ServedResource,
    padding(note, []),
  );
  await expect(deep.stored(value)).rejects.toMatchObject({
    code: 500,
    message: expect.stringContaining('exceeded max depth'),
  });
});
