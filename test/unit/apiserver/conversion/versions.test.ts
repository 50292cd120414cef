import { afterEach, beforeEach, expect, test } from 'vitest';
import { Converter } from '../../../../apiserver/conversion/converter.ts';
import { Versions } from '../../../../apiserver/conversion/versions.ts';
import type { ServedResource } from '../../../../apiserver/served.ts';
import type { WebhookCaller } from '../../../../apiserver/webhook/call.ts';
import type { Entry } from '../../../../storage/store.ts';
import { group, widget } from '../../../conversion/definition.ts';

let lost: unknown[];
const note = (why: unknown) => lost.push(why);
beforeEach(() => {
  lost = [];
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});

/** As the definition has it once it names no webhook any more. */
const plain = {
  info: { group, version: 'v2', resource: 'widgets', kind: 'Widget', storageVersion: 'v1' },
  schema: { type: 'any' },
} as unknown as ServedResource;
const nobody = { post: () => Promise.reject(new Error('asked')) } as unknown as WebhookCaller;
const versionsOf = (served: ServedResource, caller = nobody) =>
  new Versions(new Converter(caller), 'team', () => served);

const stored = (name: string, revision = 1): Entry => ({
  key: `/w/${name}`,
  value: Buffer.from(JSON.stringify(widget('v1', name, { size: 1 }))),
  revision,
  created: revision,
});
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
  const conversion = {
    name: 'w',
    revision: 1,
    storageVersion: 'v1',
    reviewVersions: ['v1'],
    config: { url: 'https://hook.example.com/' },
    versions: new Map([['v1', plain]]),
  };
  const versions = versionsOf({ ...plain, conversion } as unknown as ServedResource);
  await expect(versions.shared([stored('a'), stored('b')])).rejects.toThrow('asked');
  await expect(versions.shared([])).resolves.toEqual([]);
  await new Promise((done) => setImmediate(done));
  expect(lost).toEqual([]);
});
