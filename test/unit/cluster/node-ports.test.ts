import { expect, test } from 'vitest';
import { shapeFor } from '../../../cluster/shape.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { numberAt } from '../../../kube/untyped.ts';

const target = {
  physicalNamespace: 'root-shop-1',
  locator: { syncer: 's', cluster: 'root', namespace: 'shop', resource: 'services', name: 'web', uid: 'u' },
};
const [http, dns] = [
  { name: 'http', port: 80, protocol: 'TCP', nodePort: 30080 },
  { name: 'dns', port: 53, protocol: 'UDP', nodePort: 30053 },
];
const by = (fields: Record<string, object>) => ({
  manager: 'kubectl',
  operation: 'Apply' as const,
  apiVersion: 'v1',
  fieldsType: 'FieldsV1' as const,
  fieldsV1: { 'f:spec': { 'f:ports': fields } },
});
const owns = { 'f:port': {}, 'f:nodePort': {} };

test.each<[string, object[], (number | undefined)[]]>([
  ['that nobody wrote, a cluster hands out its own', [], [undefined, undefined]],
  [
    'of a port that somebody wrote without one, too',
    [by({ 'k:{"port":80,"protocol":"TCP"}': { 'f:port': {} } })],
    [undefined, undefined],
  ],
  [
    'that somebody wrote is asked of it',
    [by({ 'k:{"port":80,"protocol":"TCP"}': owns })],
    [30080, undefined],
  ],
  [
    'is that of its protocol',
    [by({}), by({ 'k:{"port":53,"protocol":"UDP"}': owns, 'k:{"port":80,"protocol":"UDP"}': owns })],
    [undefined, 30053],
  ],
])('a node port %s', (_, managedFields, expected) => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', managedFields },
    spec: { type: 'NodePort', ports: [http, dns] },
  } as KubeObject;
  const { spec } = shapeFor(service, { phase: 'Active' }, target) as {
    spec: { ports: { nodePort?: number }[] };
  } & KubeObject;
  expect(spec.ports.map(({ nodePort }) => nodePort)).toEqual(expected);
});

test.each<[string, object, number | undefined]>([
  ['that nobody wrote, a cluster hands out its own', {}, undefined],
  ['that somebody wrote is asked of it', { 'f:healthCheckNodePort': {} }, 30099],
])('a port for health checks %s', (_, fields, expected) => {
  const managedFields = [{ ...by({}), fieldsV1: { 'f:spec': fields } }];
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30099 };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', managedFields },
    spec: { ...spec, ports: [http] },
  } as KubeObject;
  const shaped = shapeFor(service, { phase: 'Active' }, target);
  expect(numberAt(shaped, 'spec', 'healthCheckNodePort')).toBe(expected);
});
