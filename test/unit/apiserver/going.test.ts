import { expect, test } from 'vitest';
import { encodeStored, isGoing } from '../../../apiserver/registry/codec.ts';
import type { KubeObject } from '../../../kube/object.ts';

test.each<[string, object, object, boolean]>([
  ['nothing', {}, {}, false],
  ['a time of deletion', { deletionTimestamp: '2026-01-01T00:00:00Z' }, {}, true],
  ['a label of that name', { labels: { deletionTimestamp: 'x' } }, {}, false],
  ['an annotation of that name', { annotations: { deletionTimestamp: 'x' } }, {}, false],
  ['a field of that name', {}, { deletionTimestamp: 'x' }, false],
])('of what has %s', (_what, metadata, spec, going) => {
  const object: KubeObject = {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'x', ...metadata },
    spec,
  };
  expect(isGoing({ key: 'k', value: encodeStored(object), revision: 7, created: 1 })).toBe(going);
});
