import { describe, expect, test } from 'vitest';
import { checkAccept, negotiate, offerOf } from '../../../apiserver/encode/negotiate.ts';
import type { ServedResource } from '../../../apiserver/served.ts';
import { builtinResources } from '../../../kube/schema/builtin.ts';

const info = builtinResources.find((r) => r.resource === 'pods')!;
const pods: ServedResource = { info, schema: { type: 'any' } };
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const protobuf = 'application/vnd.kubernetes.protobuf';

describe('negotiate', () => {
  test.each([
    [undefined, 'json', 'object'],
    ['*/*', 'json', 'object'],
    ['application/json, */*', 'json', 'object'],
    ['application/yaml', 'yaml', 'object'],
    [`${protobuf},application/json`, 'protobuf', 'object'],
    ['*/*, application/yaml', 'yaml', 'object'],
    ['application/json;q=0', 'json', 'object'],
    [`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, 'protobuf', 'PartialObjectMetadata'],
    [protobuf, 'protobuf', 'object'],
    [`${table},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`, 'json', 'Table'],
    [
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'json',
      'PartialObjectMetadata',
    ],
    ['application/json;as=Unheard;g=meta.k8s.io;v=v1,application/json', 'json', 'object'],
    ['text/plain;q=0.9,application/yaml;q=0.5,application/json;q=0.1', 'yaml', 'object'],
  ])('%s', (accept, encoding, shape) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    expect(negotiate(headers, new URLSearchParams(), offerOf(pods, false))).toMatchObject({
      encoding,
      shape,
    });
  });

  test('what is answered and stored nowhere has no Table', () => {
    for (const resource of ['selfsubjectaccessreviews', 'tokenreviews']) {
      const review = builtinResources.find((r) => r.resource === resource)!;
      const offer = offerOf({ info: review, schema: { type: 'any' } }, false);
      expect(() => negotiate({ accept: table }, new URLSearchParams(), offer)).toThrow(
        'only the following media',
      );
      const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
      expect(negotiate({ accept }, new URLSearchParams(), offer).shape).toBe('PartialObjectMetadata');
    }
    expect(() =>
      negotiate({ accept: table }, new URLSearchParams(), offerOf(pods, false, 'eviction')),
    ).toThrow();
  });

  test.each([
    ['text/plain', false],
    [`${protobuf};as=Table;g=meta.k8s.io;v=v1`, false],
    ['application/json;as=Table;g=meta.k8s.io;v=v2', false],
    ['application/yaml', true],
  ])('406 for %s, a watch: %s', (accept, stream) => {
    expect(() => negotiate({ accept }, new URLSearchParams(), offerOf(pods, stream))).toThrow(
      expect.objectContaining({ code: 406, reason: 'NotAcceptable' }),
    );
  });

  test.each([
    ['customresourcedefinitions', 'status', 'object'],
    ['certificatesigningrequests', 'approval', 'object'],
    ['pods', 'resize', 'object'],
    ['pods', 'status', 'Table'],
    ['deployments', 'status', 'Table'],
    ['customresourcedefinitions', '', 'Table'],
  ])('%s/%s has the shape %s for who would like a Table', (resource, subresource, shape) => {
    const served = { info: builtinResources.find((r) => r.resource === resource)!, schema: pods.schema };
    const accept = `${table},application/json`;
    const offer = offerOf(served, false, subresource);
    expect(negotiate({ accept }, new URLSearchParams(), offer).shape).toBe(shape);
  });

  test('the router refuses types that a path never gives', () => {
    expect(() => checkAccept({ accept: 'text/plain' })).toThrow(
      /Available representations: application\/json/,
    );
    expect(() => checkAccept({ accept: 'text/plain, */*;q=0.1' })).not.toThrow();
    expect(() => checkAccept({})).not.toThrow();
  });
});
