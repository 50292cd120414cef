import { expect, test } from 'vitest';
import { labelledAnnotation, logicalClusterLabel as mark } from '../../../cluster/names.ts';
import { carriedLabels } from '../../../cluster/placement.ts';
import { labelPatch } from '../../../syncer/namespace-labels.ts';

const said = (keys: string | null) => ({ [labelledAnnotation]: keys });

test.each([
  ['nothing wanted, nothing there', {}, '', {}, undefined],
  ['as it should be', { a: '1' }, 'a=1', { a: '1' }, undefined],
  ['a new one', {}, '', { a: '1' }, { labels: { a: '1' }, annotations: said('a=1') }],
  ['a change', { a: '1' }, 'a=1', { a: '2' }, { labels: { a: '2' }, annotations: said('a=2') }],
  ['one goes', { a: '1', b: '1' }, 'a=1,b=1', { b: '1' }, { labels: { a: null }, annotations: said('b=1') }],
  ['the last goes', { a: '1' }, 'a=1', {}, { labels: { a: null }, annotations: said(null) }],
  ['an empty one goes', { a: '' }, 'a=', {}, { labels: { a: null }, annotations: said(null) }],
  ['somebody took ours away', {}, 'a=1', { a: '1' }, { labels: { a: '1' }, annotations: said('a=1') }],
  ['one of somebody else, also of our name, stays', { a: 'theirs' }, '', { a: '1' }, undefined],
  [
    'what somebody made of ours is theirs',
    { a: '9' },
    'a=1',
    { a: '1' },
    { labels: {}, annotations: said(null) },
  ],
  ['and does not go with ours', { a: '9' }, 'a=1', {}, { labels: {}, annotations: said(null) }],
  ['nor follow it', { a: '9' }, 'a=1', { a: '2' }, { labels: {}, annotations: said(null) }],
  ['that we have said of one that is gone goes', {}, 'a=1', {}, { labels: {}, annotations: said(null) }],
  [
    'without values, as it was said once',
    { a: '1' },
    'a',
    { a: '1' },
    { labels: {}, annotations: said('a=1') },
  ],
  [
    'our own mark is ours, whoever wrote it',
    { [mark]: 'x' },
    '',
    { [mark]: 'y' },
    { labels: { [mark]: 'y' }, annotations: said(`${mark}=y`) },
  ],
  ['also where it goes', { a: '1' }, 'a', {}, { labels: { a: null }, annotations: said(null) }],
])('%s', (_, labels, keys, wanted, patch) => {
  const annotations = keys === '' ? {} : said(keys as string);
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { labels, annotations } };
  expect(labelPatch(object as never, wanted as Record<string, string>)).toEqual(patch);
});

test('no more than so many are carried, always the same', () => {
  const labels = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`l${i}`, 'x'] as const).reverse(),
  );
  const carried = Object.keys(carriedLabels(labels));
  expect(carried).toHaveLength(64);
  expect(carried).toEqual(Object.keys(labels).sort().slice(0, 64));
});

test('neither the system’s own labels are carried, nor any that lifts what the cluster asks of pods', () => {
  const labels = {
    'kubernetes.io/metadata.name': 'shop',
    'atoll.dev/managed-by': 'me',
    'internal.atoll.dev/x': 'y',
    'pod-security.kubernetes.io/enforce': 'baseline',
    'pod-security.kubernetes.io/warn': 'privileged',
    team: 'a',
  };
  expect(carriedLabels(labels)).toEqual({ 'pod-security.kubernetes.io/enforce': 'baseline', team: 'a' });
});
