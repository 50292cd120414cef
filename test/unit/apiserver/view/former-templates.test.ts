import { expect, test } from 'vitest';
import { FormerTemplates } from '../../../../apiserver/view/former-templates.ts';
import type { Entry } from '../../../../storage/store.ts';

function version(name: string, generation: number, image: string, more: object = {}): Entry {
  const template = { spec: { containers: [{ name: 'c', image }] } };
  const metadata = { name, uid: `uid-of-${name}`, generation };
  const object = { kind: 'Deployment', apiVersion: 'apps/v1', metadata, spec: { template, ...more } };
  return { key: name, value: Buffer.from(JSON.stringify(object)), revision: generation, created: 1 };
}

function formers() {
  const known = new FormerTemplates();
  known.reached(100);
  const images = async (name: string) =>
    (await known.of(name, 100)).map(
      ({ spec }) => (spec as never)['template']['spec']['containers'][0]['image'],
    );
  const change = (previous: Entry, entry: Entry) => known.note({ type: 'put', entry, previous });
  return { known, images, change };
}

test('what a workload had before is known, newest first and each once', async () => {
  const { images, change } = formers();
  const [a, b, c, again] = ['a', 'b', 'c', 'a'].map((image, i) => version('web', i + 1, image));
  change(a!, b!);
  change(b!, c!);
  change(c!, again!);
  change(again!, version('web', 5, 'd'));
  expect(await images('web')).toEqual(['a', 'c', 'b']);
});

test('other numbers, or another object of the name, are no other template', async () => {
  const { images, change } = formers();
  change(version('web', 1, 'a'), version('web', 2, 'a', { replicas: 3 }));
  change(version('web', 2, 'a'), version('web', 2, 'b'));
  change(version('other', 1, 'a'), { ...version('web', 2, 'b'), key: 'other' });
  expect(await images('web')).toEqual([]);
  expect(await images('other')).toEqual([]);
});

test('of one that is deleted, and of the longest ago, nothing is kept', async () => {
  const { known, images, change } = formers();
  change(version('web', 1, 'a'), version('web', 2, 'b'));
  known.note({ type: 'delete', entry: version('web', 2, 'b') });
  expect(await images('web')).toEqual([]);
  const large = 'x'.repeat(6 << 20);
  for (const name of ['first', 'second', 'third']) change(version(name, 1, large), version(name, 2, 'b'));
  const left = await Promise.all(['first', 'second', 'third'].map(images));
  expect(left.map(({ length }) => length)).toEqual([0, 1, 1]);
  for (let i = 1; i < 20; i++) change(version('second', i, `${i}`), version('second', i + 1, `${i + 1}`));
  expect(await images('second')).toHaveLength(10);
});

test('who asks for what is on its way waits for it, and no longer than there is anybody who tells', async () => {
  const { known, images, change } = formers();
  const asked = known.of('web', 102);
  change(version('web', 1, 'a'), version('web', 2, 'b'));
  known.reached(102);
  expect(await asked).toHaveLength(1);
  const late = known.of('web', 103);
  known.reached(Number.POSITIVE_INFINITY);
  expect(await late).toHaveLength(1);
  expect(await images('web')).toEqual(['a']);
});

test('of what cannot be read nothing is kept, and the rest goes on', async () => {
  const { images, change } = formers();
  change(version('web', 1, 'a'), version('web', 2, 'b'));
  const sealed = { ...version('web', 3, 'c'), value: Buffer.from('no JSON') };
  change(version('web', 2, 'b'), sealed);
  expect(await images('web')).toEqual([]);
  change(version('other', 1, 'a'), version('other', 2, 'b'));
  expect(await images('other')).toEqual(['a']);
});
