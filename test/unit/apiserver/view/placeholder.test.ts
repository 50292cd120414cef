import { expect, test } from 'vitest';
import { decideEndpoints } from '../../../../controller/endpoints/decide.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { active, configMap, keys, logical, namespace, Upstream } from './upstream.ts';

const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
const key = (name: string) => keys.object({ ...slices, name }, logical, namespace);

/** A Service on east, and the empty slice that the controller makes for it. */
async function made(labels: Record<string, string> = {}) {
  const upstream = await Upstream.make('east');
  const ref = { ...configMap('web')[1], resource: 'services', kind: 'Service' };
  const service: KubeObject = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace, uid: ref.uid },
    spec: { selector: { app: 'web' }, ipFamilies: ['IPv4'] },
  };
  await upstream.place(service, ref, { east: active });
  const [, empty] = decideEndpoints({ service, endpoints: undefined, slices: [], wasThere: false }).create;
  const placeholder = empty?.metadata.name ?? '';
  const put = () =>
    upstream.client('east').update(
      slices,
      {
        kind: 'EndpointSlice',
        apiVersion: 'discovery.k8s.io/v1',
        metadata: {
          name: 'web-there',
          namespace,
          labels: { 'kubernetes.io/service-name': 'web', ...labels },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: ref.uid }],
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['192.0.2.1'] }],
        ports: [{ port: 80 }],
      } as KubeObject,
      { cluster: logical },
    );
  return { upstream, empty: empty as KubeObject, placeholder, put };
}

test('the first slice of a cluster takes the place of the empty one, before anybody is told that it is there', async () => {
  const { upstream, empty, placeholder, put } = await made();
  await upstream.write(key(placeholder), empty);
  await put();
  expect(await upstream.read(key('web-there'))).toMatchObject({ endpoints: [{ addresses: ['192.0.2.1'] }] });
  expect(await upstream.read(key(placeholder))).toBeUndefined();
});

test.each([
  ['another’s slice of that name', {}, { labels: { 'endpointslice.kubernetes.io/managed-by': 'me' } }],
  ['one that a finalizer holds', {}, { finalizers: ['example.com/x'] }],
  [
    'the empty one, beside what a cluster mirrors of a user’s Endpoints',
    { 'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io' },
    {},
  ],
])('%s stays', async (_what, labels, more) => {
  const { upstream, empty, placeholder, put } = await made(labels);
  await upstream.write(key(placeholder), { ...empty, metadata: { ...empty.metadata, ...more } });
  await put();
  expect(await upstream.read(key('web-there'))).toBeDefined();
  expect(await upstream.read(key(placeholder))).toBeDefined();
});
