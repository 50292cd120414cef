import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../../kube/protobuf/codec.ts';
import { DecodeError, EncodeError } from '../../../../kube/protobuf/errors.ts';
import { Reader } from '../../../../kube/protobuf/reader.ts';
import {
  formatDuration,
  readDuration,
  readTime,
  writeDuration,
  writeTime,
} from '../../../../kube/protobuf/time.ts';
import { Writer } from '../../../../kube/protobuf/writer.ts';

/** Reads one field of no interest; answers where the reader then is. */
function skip(...bytes: number[]): number {
  const reader = new Reader(Uint8Array.from(bytes));
  reader.skip(reader.key() & 7);
  return reader.position;
}

describe('fields that nobody knows', () => {
  it.each<[string, number[], number]>([
    ['a varint', [8, 0x96, 1, 99], 3],
    ['eight bytes', [9, 1, 2, 3, 4, 5, 6, 7, 8, 99], 9],
    ['counted bytes', [10, 2, 1, 2, 99], 4],
    ['four bytes', [13, 1, 2, 3, 4, 99], 5],
    ['an empty group', [11, 12, 99], 2],
    [
      'a group with fields of every kind',
      [11, 8, 1, 9, 1, 2, 3, 4, 5, 6, 7, 8, 10, 1, 7, 13, 1, 2, 3, 4, 12, 99],
      21,
    ],
    ['a group in a group', [11, 19, 8, 1, 20, 12, 99], 6],
  ])('%s is skipped', (_, bytes, end) => expect(skip(...bytes)).toBe(end));

  it.each<[string, number[], string]>([
    ['too few of eight bytes', [9, 1, 2, 3], 'unexpected EOF'],
    ['too few of four bytes', [13, 1, 2, 3], 'unexpected EOF'],
    ['too few of the counted', [10, 5, 1], 'unexpected EOF'],
    ['a negative count', [10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 'negative length'],
    ['a group without an end', [11, 8, 1], 'unexpected EOF'],
    ['an end without a group', [12], 'wiretype end group for non-group'],
    ['an unknown wire type', [14], 'illegal wireType 6'],
    ['an unknown wire type in a group', [11, 15], 'illegal wireType 7'],
  ])('%s is refused', (_, bytes, message) => {
    expect(() => skip(...bytes)).toThrow(DecodeError);
    expect(() => skip(...bytes)).toThrow(message);
  });

  it('groups a million deep cost no stack', () => {
    const deep = [...Array<number>(1_000_000).fill(11), ...Array<number>(1_000_000).fill(12)];
    expect(new Reader(Uint8Array.from(deep)).done).toBe(false);
    const reader = new Reader(Uint8Array.from(deep));
    reader.skip(reader.key() & 7);
    expect(reader.done).toBe(true);
  });
});

function written(write: (writer: Writer) => void): Reader {
  const writer = new Writer(1);
  write(writer);
  return new Reader(writer.finish());
}

describe('times', () => {
  it.each<[string, boolean, string]>([
    ['2026-01-02T03:04:05Z', false, '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.999Z', false, '2026-01-02T03:04:05Z'],
    ['2026-01-02T04:04:05+01:00', false, '2026-01-02T03:04:05Z'],
    ['1969-12-31T23:59:59Z', false, '1969-12-31T23:59:59Z'],
    ['0001-01-01T00:00:01Z', false, '0001-01-01T00:00:01Z'],
    ['2026-01-02T03:04:05.000001Z', true, '2026-01-02T03:04:05.000001Z'],
    ['2026-01-02T03:04:05.5Z', true, '2026-01-02T03:04:05.500000Z'],
    ['1969-12-31T23:59:59.250000Z', true, '1969-12-31T23:59:59.250000Z'],
  ])('%s, micro %s, comes back as %s', (text, micro, back) => {
    expect(
      readTime(
        written((w) => writeTime(w, text, micro)),
        micro,
      ),
    ).toBe(back);
  });

  it('the empty message is no time', () => {
    expect(written((w) => writeTime(w, null, false)).done).toBe(true);
    expect(readTime(new Reader(new Uint8Array()), false)).toBeNull();
  });

  it('refuses what is none, and what RFC 3339 cannot say', () => {
    expect(() => written((w) => writeTime(w, 'yesterday', false))).toThrow(EncodeError);
    const late = written((w) => {
      w.varint(300_000_000_000);
      w.key(1, 0);
    });
    expect(() => readTime(late, false)).toThrow('year outside of range [0,9999]');
  });
});

it.each([
  ['0s', '0s'],
  ['90s', '1m30s'],
  ['1h', '1h0m0s'],
  ['1.5h', '1h30m0s'],
  ['-1m', '-1m0s'],
  ['2h45m10.5s', '2h45m10.5s'],
  ['3ms', '3ms'],
  ['7us', '7µs'],
  ['9ns', '9ns'],
])('the duration %s comes back as %s', (text, back) => {
  expect(readDuration(written((w) => writeDuration(w, text)))).toBe(back);
  expect(formatDuration(0)).toBe('0s');
});

/** The object as it comes back. */
const through = (object: object) => decodeProtobuf(encodeProtobuf(object as KubeObject)) as unknown as never;

describe('types that write themselves', () => {
  const definition = (schema: object) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
  });
  const string = { type: 'string' };

  it.each<[string, object]>([
    ['a list of one schema', { items: string }],
    ['additional properties of a schema', { additionalProperties: string }],
    ['any additional properties', { additionalProperties: true }],
    ['no additional properties', { additionalProperties: false }],
    ['dependencies on names and on a schema', { dependencies: { a: ['b', 'c'], d: string } }],
    ['a default of any JSON', { default: { a: [1, null, { b: 'c' }] } }],
    ['an enum of any JSON', { enum: ['a', 1, null, { b: true }] }],
  ])('%s', (_, schema) => {
    const { spec } = through(definition(schema)) as { spec: { versions: { schema: object }[] } };
    expect(spec.versions[0]?.schema).toEqual({ openAPIV3Schema: schema });
  });

  it.each([['8080'], [8080], ['25%'], [0], ['']])('an int-or-string of %j', (targetPort) => {
    const service = { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 1, targetPort }] } };
    const { spec } = through(service) as { spec: { ports: { targetPort: unknown }[] } };
    expect(spec.ports[0]?.targetPort).toBe(targetPort);
  });

  it('an object of any kind inside another', () => {
    const data = { apiVersion: 'example.org/v1', kind: 'Widget', spec: { n: 2n ** 60n } };
    const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', data, revision: 1 };
    expect(through(revision)).toMatchObject({ data });
  });
});

it.each<[string, object, string]>([
  ['a list', { metadata: { finalizers: 'x' } }, 'finalizers'],
  ['a map', { metadata: { labels: ['x'] } }, 'labels'],
  ['a boolean', { immutable: 'yes' }, 'immutable'],
  ['a text', { metadata: { name: 1 } }, 'name'],
  ['an integer', { metadata: { generation: 1.5 } }, 'generation'],
  ['bytes', { binaryData: { a: 1 } }, 'binaryData'],
])('what is no %s cannot be written', (_, fields, name) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', ...fields };
  expect(() => encodeProtobuf(object)).toThrow(EncodeError);
  expect(() => encodeProtobuf(object)).toThrow(`the field ${name} cannot hold`);
});
