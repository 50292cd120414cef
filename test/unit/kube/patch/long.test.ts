import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../kube/object.ts';
import { whyNoJsonPatch } from '../../../../kube/patch/json-problem.ts';
import { applyStrategicMergePatch } from '../../../../kube/patch/strategic.ts';
import { merge } from '../../../../kube/patch/typed.ts';
import type { Schema } from '../../../../kube/schema/schema.ts';
import { patienceMs } from '../../../eventually.ts';
import { mergeItem } from './merge-item.ts';

/** Ends by an error what would end long after anybody waits. */
const bounded = <T>(run: () => T): T => runInNewContext('run()', { run }, { timeout: patienceMs });

const items = Array.from({ length: 100_000 }, (_, i) => `v${i}`);

test('why a long patch does not apply takes as long as it is', () => {
  const before: JsonObject = { data: Object.fromEntries(items.map((item) => [item, 1])) };
  const fine = Array.from({ length: 9000 }, () => ({ op: 'add', path: '/a', value: 1 }));
  const patch = [...fine, { op: 'replace', path: '/b/c', value: 1 }, { op: 'remove', path: '/x' }];
  expect(bounded(() => whyNoJsonPatch(before, patch))).toBe(
    'replace operation does not apply: doc is missing path: /b/c: missing value',
  );
});

test('a long list that is applied takes as long as it is', () => {
  const schema: Schema = { type: 'list', items: { type: 'string' }, listType: 'set' };
  const long = ['', 'a', 'b', 'c', 'd', 'e'].flatMap((end) => items.map((item) => item + end));
  const merged = bounded(() => merge(long, [...long, 'z'], schema));
  expect(merged).toEqual([...long, 'z']);
});

test('a strategic patch of a long list takes as long as it is', () => {
  const list = (value: string, names = items) => ({ mergingList: names.map((name) => ({ name, value })) });
  const backwards = items.toReversed();
  const merged = bounded(() => applyStrategicMergePatch(list('a'), list('b', backwards), mergeItem));
  expect(merged).toEqual(list('b', backwards));
  const gone = { mergingList: items.slice(1).map((name) => ({ name, $patch: 'delete' })) };
  expect(bounded(() => applyStrategicMergePatch(list('a'), gone, mergeItem))).toEqual(list('a', ['v0']));
});
