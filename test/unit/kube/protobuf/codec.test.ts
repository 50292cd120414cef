import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import {
  decodeProtobuf,
  encodeProtobuf,
  encodeWatchEvent,
  hasProtobuf,
} from '../../../../kube/protobuf/codec.ts';
import { DecodeError, EncodeError } from '../../../../kube/protobuf/errors.ts';
import { formatDuration } from '../../../../kube/protobuf/time.ts';
import { Writer } from '../../../../kube/protobuf/writer.ts';

/** Objects with the bytes that the Go serializer of k8s.io/apimachinery 0.36.3 writes for them. */
const vectors = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8')) as {
  object: KubeObject;
  bytes: string;
}[];

describe.each(vectors.map((v) => [v.object.kind, v] as const))('%s', (_, vector) => {
  const bytes = Buffer.from(vector.bytes, 'base64');

  it('decodes to the JSON that Go writes', () => {
    expect(JSON.parse(JSON.stringify(decodeProtobuf(bytes)))).toEqual(vector.object);
  });

  it("encodes to Go's bytes", () => {
    expect(Buffer.from(encodeProtobuf(vector.object)).toString('base64')).toBe(vector.bytes);
  });

  it('refuses every truncation with DecodeError or reads a shorter object', () => {
    for (let length = 0; length < bytes.length; length++) {
      try {
        decodeProtobuf(bytes.subarray(0, length));
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }
  });
});

function envelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const writer = new Writer();
  writer.bytes(raw);
  writer.key(2, 2);
  writer.message(1, () => {
    writer.string(kind);
    writer.key(2, 2);
    writer.string(apiVersion);
    writer.key(1, 2);
  });
  writer.raw(Buffer.from('k8s\0'));
  return writer.finish();
}

describe('hostile and odd input', () => {
  const cases: [string, Uint8Array, string][] = [
    ['nothing', new Uint8Array(), 'empty data'],
    [
      'JSON',
      Buffer.from('{"kind":"Pod"}'),
      'does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    ['only the prefix', Buffer.from('k8s\0'), 'empty body'],
    ['an unknown kind', envelope('v1', 'Nope', Buffer.of()), 'no kind "Nope" is registered for version "v1"'],
    ['a cut field', envelope('v1', 'Pod', Buffer.of(10, 5, 1)), 'unexpected EOF'],
    ['a wrong wire type', envelope('v1', 'Pod', Buffer.of(8, 5)), 'wrong wireType = 0 for field ObjectMeta'],
    ['field number zero', envelope('v1', 'Pod', Buffer.of(0, 0)), 'illegal tag 0'],
    ['an endless varint', envelope('v1', 'Pod', Buffer.alloc(20, 0xff)), 'integer overflow'],
  ];
  it.each(cases)('refuses %s', (_, bytes, message) => {
    expect(() => decodeProtobuf(bytes)).toThrow(DecodeError);
    expect(() => decodeProtobuf(bytes)).toThrow(message);
  });

  it.each(['', 'much', ' 1', '1e9999', '0'.repeat(2000)])('refuses the quantity %j', (cpu) => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: {}, spec: { hard: { cpu } } };
    expect(() => decodeProtobuf(encodeProtobuf(quota as KubeObject))).toThrow(DecodeError);
  });

  it('bounds the depth', () => {
    let schema: object = { type: 'string' };
    for (let i = 0; i < 700; i++) schema = { not: schema };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: { versions },
    };
    expect(() => decodeProtobuf(encodeProtobuf(crd))).toThrow('nesting depth');
  });

  it('keeps 64-bit integers exact', () => {
    for (const generation of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]) {
      const object = { apiVersion: 'v1', kind: 'Pod', metadata: { generation } };
      expect(decodeProtobuf(encodeProtobuf(object)).metadata.generation).toBe(generation);
    }
  });

  it('skips unknown fields and takes the kind from the caller', () => {
    const raw = Buffer.of(0xfa, 0x01, 1, 9, 0x92, 0x03, 0);
    const gvk = { group: '', version: 'v1', kind: 'ConfigMap' };
    expect(decodeProtobuf(envelope('', '', raw), gvk)).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
  });

  it('keeps __proto__ an ordinary key', () => {
    const data = JSON.parse('{"__proto__":"x"}') as object;
    const again = decodeProtobuf(
      encodeProtobuf({ apiVersion: 'v1', kind: 'ConfigMap', data } as object as KubeObject),
    );
    expect(Object.keys(again['data'] as object)).toEqual(['__proto__']);
  });

  it('refuses to encode what has no message, or the wrong type', () => {
    expect(hasProtobuf({ group: 'example.org', version: 'v1', kind: 'Widget' })).toBe(false);
    expect(() => encodeProtobuf({ apiVersion: 'example.org/v1', kind: 'Widget' })).toThrow(EncodeError);
    const bad = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 'x' } };
    expect(() => encodeProtobuf(bad)).toThrow('replicas');
  });
});

it('frames watch events', () => {
  const frame = Buffer.from(encodeWatchEvent('ADDED', Buffer.from('k8s\0!')));
  expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
  expect(frame.subarray(4).toString('latin1')).toBe('\n\x05ADDED\x12\x07\n\x05k8s\0!');
});

it.each([
  [0, '0s'],
  [1, '1ns'],
  [1500, '1.5µs'],
  [20e6, '20ms'],
  [1.5e9, '1.5s'],
  [-3661e9, '-1h1m1s'],
  [60e9, '1m0s'],
])('prints %d ns as Go does', (nanos, text) => {
  expect(formatDuration(nanos)).toBe(text);
});
