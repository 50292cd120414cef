import { expect, test } from 'vitest';
import { encodeStored } from '../../../../apiserver/registry/codec.ts';
import { namesSource } from '../../../../apiserver/view/named-source.ts';
import { reflectedFromAnnotation } from '../../../../cluster/names.ts';
import { reflectedAs } from '../../../../cluster/reflected.ts';

const of = (annotations: Record<string, string> | undefined, spec: object = {}): Uint8Array =>
  encodeStored({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', uid: 'u', ...(annotations && { annotations }) },
    spec,
  });
const nested = (text: string) => ({
  template: { metadata: { annotations: { [reflectedFromAnnotation]: text } } },
});

test.each<[string, boolean, Uint8Array]>([
  ['of that cluster', true, of(reflectedAs({}, 'u', ['east']))],
  ['of several', true, of(reflectedAs({ a: 'b' }, 'u', ['west', 'east']))],
  ['as it was said before there were uids', true, of({ [reflectedFromAnnotation]: 'east' })],
  ['of another', false, of(reflectedAs({}, 'u', ['west']))],
  ['of one whose name is longer', false, of(reflectedAs({}, 'u', ['east-2', 'north-east']))],
  ['of nobody', false, of(undefined)],
  ['that speaks of it in a text', false, of({ note: `"${reflectedFromAnnotation}":"east"` })],
  [
    'that has such an annotation deeper inside as well',
    true,
    of(reflectedAs({}, 'u', ['east']), nested('west')),
  ],
  ['that may be, by one deeper inside', true, of(reflectedAs({}, 'u', ['west']), nested('east'))],
])('an object %s names it: %s', (_what, is, value) => {
  expect(namesSource({ value }, 'east')).toBe(is);
});

test('bytes that end early name what they name', () => {
  const value = of(reflectedAs({}, 'u', ['east']));
  const end = Buffer.from(value).indexOf('east') + 4;
  expect(namesSource({ value: value.subarray(0, end) }, 'east')).toBe(true);
  expect(namesSource({ value: value.subarray(0, end - 1) }, 'east')).toBe(false);
});
