import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

const group = 'requests.example.com';
const gears = `/apis/${group}/v1/namespaces/default/gears`;
const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: 'O', type: 'string', jsonPath: '.spec.o' }],
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});
const gear = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: { name: 'g' } });

let api: Api;
beforeAll(async () => {
  api = startApi();
  await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions: [version('v1', true), version('v2', false)],
    },
  });
  await api.call('POST', gears, {
    ...gear(`${group}/v1`, 'Gear'),
    spec: { o: { z: '<', a: { y: 2, b: 3 } } },
  });
});
afterAll(() => api.close());

const merge = { 'content-type': 'application/merge-patch+json' };
const otherKind = `Other.${group} "g" is invalid: kind: Invalid value: "Other": must be Gear`;

/** Each is what kube-apiserver 1.36.3 answers. */
test.each<[method: string, path: string, body: object | undefined, code: number, message: string]>([
  [
    'POST',
    gears,
    gear(`${group}/v2`, 'Gear'),
    400,
    `the API version in the data (${group}/v2) does not match the expected API version (${group}/v1)`,
  ],
  [
    'PUT',
    `${gears}/g`,
    gear('v1', 'Pod'),
    400,
    `the API version in the data (v1) does not match the expected API version (${group}/v1)`,
  ],
  ['POST', gears, gear(`${group}/v1`, 'Other'), 422, otherKind],
  [
    'POST',
    gears,
    { kind: 'Gear' },
    400,
    `the API version in the data () does not match the expected API version (${group}/v1)`,
  ],
  [
    'PUT',
    `${gears}/none`,
    { apiVersion: `${group}/v1`, kind: '' },
    400,
    `the object provided is unrecognized (must be of type Gear): Object 'Kind' is missing in '{"apiVersion":"${group}/v1","kind":""}' ({"apiVersion":"requests.exampl ...)`,
  ],
  [
    'POST',
    gears,
    { apiVersion: 'x/y/z', kind: 'Gear' },
    400,
    'the object provided is unrecognized (must be of type Gear): unexpected GroupVersion string: x/y/z ({"apiVersion":"x/y/z","kind":" ...)',
  ],
  [
    'PATCH',
    `${gears}/g`,
    { apiVersion: `${group}/v2`, kind: 'Other' },
    422,
    `Other.${group} "g" is invalid: [kind: Invalid value: "Other": must be Gear, apiVersion: Invalid value: "${group}/v2": must be ${group}/v1]`,
  ],
  [
    'DELETE',
    `${gears}/g/status`,
    undefined,
    405,
    `delete is not supported on resources of kind "gears.${group}"`,
  ],
])('%s %s %j', async (method, path, sent, code, message) => {
  const { status, body } = await api.call(method, path, sent, method === 'PATCH' ? merge : {});
  expect([status, body.message]).toEqual([code, message]);
});

test('a column shows an object with its fields in order of their names', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { body } = await api.call('GET', `${gears}/g`, undefined, { accept });
  expect(body.rows[0].cells).toEqual(['g', '{"a":{"b":3,"y":2},"z":"\\u003c"}']);
});

test('one is no list', async () => {
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  const { status, body } = await api.call('GET', `${gears}/g`, undefined, { accept });
  expect([status, body.message, body.reason]).toEqual([500, 'content is not a list', undefined]);
});
