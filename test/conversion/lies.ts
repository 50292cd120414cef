import type { ConversionWebhook } from './webhook.ts';

// biome-ignore lint/suspicious/noExplicitAny: reviews are written field by field.
type Loose = any;
type Answering = Partial<Pick<ConversionWebhook, 'lie' | 'raw'>>;

const each =
  (change: (object: Loose) => Loose): NonNullable<Answering['lie']> =>
  (response) => ({ ...response, convertedObjects: response.convertedObjects.map(change) });

const metadata = (change: (metadata: Loose) => Loose): Answering => ({
  lie: each((object) => ({ ...object, metadata: change(object.metadata) })),
});

const http = (status: number, body: string, type = 'text/plain'): Answering => ({
  raw: (response) => void response.writeHead(status, { 'content-type': type }).end(body),
});

/** What a webhook may answer that is none. */
export const lies = {
  fails: { lie: (response) => ({ ...response, result: { status: 'Failure', message: 'no way' } }) },
  'fails without a word': { lie: (response) => ({ ...response, result: { status: 'Failure' } }) },
  'says nothing of success': { lie: ({ result: _, ...response }) => response },
  'another uid': { lie: (response) => ({ ...response, uid: 'other' }) },
  'no response': http(
    200,
    '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}',
    'application/json',
  ),
  'a review of no kind': http(200, '{"response":{"result":{"status":"Success"}}}', 'application/json'),
  fewer: { lie: (response) => ({ ...response, convertedObjects: [] }) },
  more: {
    lie: (response) => ({
      ...response,
      convertedObjects: [...response.convertedObjects, ...response.convertedObjects],
    }),
  },
  'no object': { lie: each(() => null) },
  'a text': { lie: each(() => 'object') },
  'no kind': { lie: each(({ kind: _, ...object }) => object) },
  'another version': { lie: each((object) => ({ ...object, apiVersion: 'conversion.example.com/v3' })) },
  'another group': { lie: each((object) => ({ ...object, apiVersion: 'v1' })) },
  'another kind': { lie: each((object) => ({ ...object, kind: 'Gadget' })) },
  'another name': metadata((before) => ({ ...before, name: 'other' })),
  'another namespace': metadata((before) => ({ ...before, namespace: 'other' })),
  'another UID': metadata((before) => ({ ...before, uid: 'other' })),
  'no metadata': { lie: each(({ metadata: _, ...object }) => object) },
  'metadata that is none': { lie: each((object) => ({ ...object, metadata: 'none' })) },
  'labels that are none': metadata((before) => ({ ...before, labels: 'none' })),
  'a label that is a number': metadata((before) => ({ ...before, labels: { app: 1 } })),
  'a label of no name': metadata((before) => ({ ...before, labels: { '-': 'x' } })),
  'a label of no value': metadata((before) => ({ ...before, labels: { app: '-' } })),
  'an annotation of no name': metadata((before) => ({ ...before, annotations: { 'a b': 'x' } })),
  'more labels and annotations': metadata((before) => ({
    ...before,
    labels: { ...before.labels, more: 'yes' },
    annotations: { more: 'yes' },
  })),
  'no labels': metadata(({ labels: _, ...before }) => before),
  'other metadata': metadata((before) => ({
    ...before,
    generation: 7,
    finalizers: ['example.com/stays'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'x', uid: 'x' }],
    creationTimestamp: '2001-01-01T00:00:00Z',
    resourceVersion: '1',
    managedFields: [],
  })),
  'fields that nobody knows': {
    lie: each((object) => ({ ...object, more: 1, spec: { ...object.spec, x: 1 } })),
  },
  'what its schema refuses': { lie: each((object) => ({ ...object, spec: { size: 'big', tier: 7 } })) },
  'no spec': { lie: each(({ spec: _, ...object }) => object) },
  'status 500': http(500, 'broken'),
  'status 404': http(404, 'gone'),
  'no JSON': http(200, 'hello', 'application/json'),
  nothing: http(200, '', 'application/json'),
  'another review': http(
    200,
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
    'application/json',
  ),
  'another version of the review': http(
    200,
    '{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview","response":{"result":{"status":"Success"}}}',
    'application/json',
  ),
} satisfies Record<string, Answering>;
