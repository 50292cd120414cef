import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseApiVersion } from '../../../../kube/gvk.ts';
import { decodeJsonText, encodeJson } from '../../../../kube/json.ts';
import type { JsonObject } from '../../../../kube/object.ts';
import { decodeProtobuf, encodeProtobuf } from '../../../../kube/protobuf/codec.ts';
import { decodeBuiltin } from '../../../../kube/schema/strict.ts';
import { decodeYaml } from '../../../../kube/yaml.ts';

/**
 * Every kind of k8s.io/api 0.36.3, served or not, with every field filled: the fixtures by which Kubernetes tells that
 * its own encodings did not change, packed by scripts/generate/fixtures.mjs. `pb` is in base64.
 */
const golden = JSON.parse(
  brotliDecompressSync(readFileSync(new URL('./golden.json.br', import.meta.url))).toString('utf8'),
) as Record<string, { json: string; yaml: string; pb: string }>;

/** A WatchEvent is no object: it has no kind, in no encoding. */
const watchEvent = { group: '', version: 'v1', kind: 'WatchEvent' };

function kindOf(object: JsonObject) {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string };
  if (apiVersion === undefined || kind === undefined) return watchEvent;
  return { ...parseApiVersion(apiVersion), kind };
}

it('has all the kinds', () => {
  const kinds = Object.values(golden).map(({ json }) => kindOf(decodeJsonText(json).value as JsonObject));
  expect(kinds).toHaveLength(185);
  expect(kinds.filter((kind) => kind === watchEvent)).toHaveLength(1);
});

describe.each(Object.entries(golden))('%s', (_, { json, yaml, pb }) => {
  const object = decodeJsonText(json, { strict: true }).value as JsonObject;
  const gvk = kindOf(object);
  const bytes = Buffer.from(pb, 'base64');

  it('is the same in JSON, YAML and protobuf, its fields in the same order', () => {
    const decoded = decodeProtobuf(bytes, gvk);
    expect(encodeJson(decoded)).toBe(encodeJson(object));
    expect(decodeYaml(yaml).value).toEqual(object);
  });

  it("becomes Kubernetes' bytes again", () => {
    const { group, version, kind } = gvk;
    const kinded = { apiVersion: group ? `${group}/${version}` : version, kind, ...object };
    const decoded = { ...kinded, ...decodeProtobuf(bytes, gvk) };
    expect(Buffer.from(encodeProtobuf(decoded)).toString('base64')).toBe(pb);
    expect(Buffer.from(encodeProtobuf(kinded)).toString('base64')).toBe(pb);
    expect(JSON.stringify(object, null, 2)).toBe(json);
  });

  it('is taken whole by strict decoding', () => {
    const { value, unknown } = decodeBuiltin(object, gvk);
    expect(unknown).toEqual([]);
    expect(encodeJson(value)).toBe(encodeJson(object));
  });
});
