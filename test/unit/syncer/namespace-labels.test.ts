import { expect, test } from 'vitest';
import { labelledAnnotation, logicalClusterLabel as mark } from '../../../cluster/names.ts';
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
    { labels: { [mark]: 'y' }, annotations: said(null) },
  ],
  ['also where it goes', { a: '1' }, 'a', {}, { labels: { a: null }, annotations: said(null) }],
])('%s', (_, labels, keys, wanted, patch) => {
  const annotations = keys === '' ? {} : said(keys as string);
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { labels, annotations } };
  expect(labelPatch(object as never, wanted as Record<string, string>)).toEqual(patch);
});
