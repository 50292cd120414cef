import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeStored } from '../../../apiserver/registry/codec.ts';
import { labelsOf } from '../../../apiserver/registry/labels.ts';
import type { KubeObject } from '../../../kube/object.ts';

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('"', '\\', '\\"', '{"labels":{"a":"b"}}', 'labels', '}', ']'),
);
const dictionary = fc.dictionary(text, text);

test('labels are those that a parser would find, whatever stands around them', () => {
  const metadata = fc.record(
    {
      annotations: dictionary,
      labels: dictionary,
      name: text,
      finalizers: fc.array(text),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(metadata, fc.boolean(), (given, asIs) => {
      const object = {
        kind: 'K',
        apiVersion: 'v1',
        metadata: given,
        labels: { x: 'y' },
      } as unknown as KubeObject;
      // As this version writes it, and with the labels wherever an older one left them.
      const value = asIs ? Buffer.from(JSON.stringify(object)) : encodeStored(object);
      const parsed = JSON.parse(Buffer.from(value).toString()).metadata.labels ?? {};
      expect(JSON.stringify(labelsOf(value))).toBe(JSON.stringify(parsed));
      expect(labelsOf(value)).toBe(labelsOf(value));
    }),
  );
});
