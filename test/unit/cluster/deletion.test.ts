import { expect, test } from 'vitest';
import { isEnding } from '../../../cluster/deletion.ts';

test.each<[string, string | undefined, string[] | undefined, boolean]>([
  ['not deleted', undefined, ['example.com/f'], false],
  ['deleted, kept by nobody', 'now', undefined, true],
  ['kept by the collector alone', 'now', ['orphan'], true],
  ['kept by somebody', 'now', ['example.com/f'], false],
  ['orphaned, and kept by somebody', 'now', ['orphan', 'example.com/f'], false],
  ['in the foreground, its dependents first', 'now', ['foregroundDeletion', 'example.com/f'], true],
])('%s', (_, deletionTimestamp, finalizers, expected) => {
  const metadata = { ...(deletionTimestamp && { deletionTimestamp }), ...(finalizers && { finalizers }) };
  expect(isEnding({ apiVersion: 'v1', kind: 'Job', metadata })).toBe(expected);
  const stops = deletionTimestamp !== undefined;
  expect(isEnding({ apiVersion: 'v1', kind: 'Pod', metadata }), 'a Pod is stopped').toBe(stops);
});
