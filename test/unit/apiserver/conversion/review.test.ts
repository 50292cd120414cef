import { describe, expect, test } from 'vitest';
import { convertedBy, reviewOf } from '../../../../apiserver/conversion/review.ts';
import type { JsonObject, KubeObject } from '../../../../kube/object.ts';
import { group, widget } from '../../../conversion/definition.ts';

const object: KubeObject = {
  ...widget('v1', 'a', { size: 1 }),
  metadata: { name: 'a', namespace: 'default', uid: 'u', generation: 3, labels: { app: 'a' } },
};
const asked = { apiVersion: `${group}/v2`, versions: ['v1'], uid: 'r' };
const good = { ...object, apiVersion: `${group}/v2`, spec: { size: 2 } };

function answered(response: unknown, versions = ['v1'], more: object = {}) {
  const review = reviewOf([object], { ...asked, versions }) as JsonObject;
  const { kind = '', apiVersion = '' } = review;
  return convertedBy({ kind, apiVersion, response, ...more } as JsonObject, review, [object]);
}

const success = { uid: 'r', result: { status: 'Success' } };
const gave = (convertedObjects: unknown, versions?: string[]) =>
  answered({ ...success, convertedObjects }, versions);
const inMetadata = (metadata: object) => gave([{ ...good, metadata: { ...good.metadata, ...metadata } }]);

test('a review is of the first version that both know', () => {
  expect(reviewOf([object], asked)).toEqual({
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { uid: 'r', desiredAPIVersion: `${group}/v2`, objects: [object] },
  });
  const versions = ['v7', 'v1beta1', 'v1'];
  expect(reviewOf([object], { ...asked, versions })?.['apiVersion']).toBe('apiextensions.k8s.io/v1beta1');
  expect(reviewOf([object], { ...asked, versions: ['v7'] })).toBeUndefined();
});

test('what comes back has its own labels and annotations, and the metadata that was sent', () => {
  const metadata = { generation: 9, finalizers: ['x'], labels: { more: 'b' }, annotations: { why: 'c' } };
  expect(inMetadata(metadata)).toEqual([
    { ...good, metadata: { ...object.metadata, labels: { more: 'b' }, annotations: { why: 'c' } } },
  ]);
  const { labels: _, ...rest } = object.metadata;
  expect(gave([{ ...good, metadata: rest }])).toEqual([{ ...good, metadata: rest }]);
});

const about = `conversion webhook for ${group}/v1, Kind=Widget`;

// As kube-apiserver 1.36.3 says it: test/e2e/conversion.test.ts compares.
describe.each<[string, () => unknown, string]>([
  ['nothing', () => answered(undefined), `${about} failed: no response provided`],
  [
    'to another',
    () => answered({ ...success, uid: 'x' }),
    `${about} failed: expected response.uid="r", got "x"`,
  ],
  ['no', () => answered({ uid: 'r', result: { status: 'Failure', message: 'no' } }), `${about} failed: no`],
  [
    'neither yes nor no',
    () => answered({ uid: 'r' }),
    `${about} failed: response.result.status was '', not 'Success'`,
  ],
  [
    'in another version',
    () => answered(success, ['v1'], { apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    `${about} failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion`,
  ],
  [
    'of no kind',
    () => answered(success, ['v1'], { apiVersion: '', kind: '' }),
    `${about} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=`,
  ],
  ['too few', () => gave([]), `${about} returned 0 objects, expected 1`],
  ['too many', () => gave([good, good]), `${about} returned 2 objects, expected 1`],
  ['null', () => gave([null]), 'unexpected end of JSON input'],
  ['a list', () => gave([[]]), 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  [
    'a version that was not asked for',
    () => gave([object]),
    `${about} returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received ${group}/v1)`,
  ],
  [
    'another kind',
    () => gave([{ ...good, kind: 'Gadget' }]),
    `${about} returned invalid object at index 0: invalid kind (expected Widget, received Gadget)`,
  ],
  [
    'another name',
    () => inMetadata({ name: 'b' }),
    `${about} returned invalid object: must have the same name: a != b`,
  ],
  [
    'another namespace',
    () => inMetadata({ namespace: 'b' }),
    `${about} returned invalid object: must have the same namespace: default != b`,
  ],
  [
    'another uid',
    () => inMetadata({ uid: 'b' }),
    `${about} returned invalid object: must have the same UID: u != b`,
  ],
  [
    'labels that are no map',
    () => inMetadata({ labels: [] }),
    `${about} returned invalid metadata: invalid metadata.labels of type []interface {} in converted object`,
  ],
  [
    'an annotation that is no text',
    () => inMetadata({ annotations: { a: 1.5 } }),
    `${about} returned invalid metadata: metadata.annotations[a] must be a string, but is float64 in converted object`,
  ],
])('a webhook that answers %s', (_, answer, why) => {
  test('converts nothing', () => {
    expect(answer).toThrow(why);
  });
});

test('a review of v1beta1 may be answered without saying to whom', () => {
  const response = { result: { status: 'Success' }, convertedObjects: [good] };
  expect(answered(response, ['v1beta1'], { kind: '', apiVersion: '' })).toEqual([good]);
});
