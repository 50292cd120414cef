import { expect, test } from 'vitest';
import type { ResourceExchange } from '../../../../apiserver/core.ts';
import type { Form } from '../../../../apiserver/encode/negotiate.ts';
import { encodeAs, type Kinded } from '../../../../apiserver/encode/respond.ts';
import { respondInPieces } from '../../../../apiserver/handlers/lists/pieces.ts';
import { decodeStored } from '../../../../apiserver/registry/codec.ts';
import type { Entry } from '../../../../storage/store.ts';

const exchange = { info: { cluster: 'root' } } as ResourceExchange;
const traps = ['"items":[]', 'items: []\n', '\nrows: []\n', '\n  "rows": []', '*a &a !b', ']}\n'];
const entries = Array.from({ length: 400 }, (_, i): Entry => {
  const annotations = { trap: traps[i % traps.length], long: 'x'.repeat(1000 + i) };
  const metadata = { name: `p${i}`, annotations };
  const spec = { containers: [{ name: 'c', image: traps[i % traps.length] }] };
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata, spec };
  return { key: `/p${i}`, value: Buffer.from(JSON.stringify(pod)), revision: i + 1, created: i + 1 };
});

const metadata = { resourceVersion: '7', continue: 'a'.repeat(20), remainingItemCount: 3 };
const shapes: Record<Form['shape'], (some: readonly Entry[]) => Kinded> = {
  object: (some) => ({
    kind: 'PodList',
    apiVersion: 'v1',
    metadata,
    items: some.map((entry) => decodeStored(entry)),
  }),
  PartialObjectMetadata: (some) => ({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    items: some.map((entry) => ({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: decodeStored(entry).metadata,
    })),
  }),
  Table: (some) => ({
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: traps.map((description) => ({ name: 'A', type: 'string', description })),
    rows: some.map((entry) => ({ cells: traps, object: decodeStored(entry) })),
  }),
};

const form = (encoding: Form['encoding'], shape: Form['shape'], pretty = false): Form => ({
  encoding,
  shape,
  version: 'v1',
  pretty,
});
const forms = [
  form('json', 'object'),
  form('json', 'Table'),
  form('json', 'PartialObjectMetadata'),
  form('json', 'object', true),
  form('json', 'Table', true),
  form('yaml', 'object'),
  form('yaml', 'Table'),
  form('yaml', 'PartialObjectMetadata'),
  form('protobuf', 'object'),
  form('protobuf', 'PartialObjectMetadata'),
];

async function inPieces(of: Form, all: readonly Entry[], make: (some: readonly Entry[]) => Kinded) {
  const asked: number[] = [];
  const { headers, body } = await respondInPieces(exchange, of, all, (some) => {
    asked.push(some.length);
    return make(some);
  });
  const parts: Uint8Array[] = [];
  for await (const part of body as AsyncIterable<Uint8Array>) parts.push(part);
  const bytes = Buffer.concat(parts);
  expect(headers['content-length']).toBe(String(bytes.length));
  return { bytes, asked };
}

test.each(forms)('a list in pieces is the list in one, byte for byte: %j', async (of) => {
  const make = shapes[of.shape];
  const { bytes, asked } = await inPieces(of, entries, make);
  expect(bytes.equals(encodeAs(make(entries), of))).toBe(true);
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.reduce((sum, some) => sum + some, 0)).toBe(entries.length);
});

test('a number that only our own JSON writes is written, wherever in the list it is', async () => {
  const make = (some: readonly Entry[]): Kinded => ({
    ...shapes.object(some),
    items: some.map(({ key }) => (key === '/p390' ? { big: 12345678901234567890n } : { key })),
  });
  const { bytes } = await inPieces(form('json', 'object', true), entries, make);
  expect(bytes.equals(encodeAs(make(entries), form('json', 'object', false)))).toBe(true);
});
