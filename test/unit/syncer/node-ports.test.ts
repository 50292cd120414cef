import { expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { invalid, StatusError } from '../../../kube/status.ts';
import { changedThere } from '../../../syncer/changed.ts';
import { withoutRefusedPorts } from '../../../syncer/node-ports.ts';

const service = (...nodePorts: (number | undefined)[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { ports: nodePorts.map((nodePort, i) => ({ port: 80 + i, ...(nodePort && { nodePort }) })) },
});
const checked = (health?: number, nodePort?: number): KubeObject => {
  const { spec, ...rest } = service(nodePort);
  return { ...rest, spec: { ...(spec as object), ...(health && { healthCheckNodePort: health }) } };
};
const healthTaken = new StatusError(
  500,
  'InternalError',
  'Internal error occurred: failed to allocate requested HealthCheck NodePort 30082: provided port is already allocated',
);
const taken = (...fields: string[]) =>
  invalid(
    '',
    'Service',
    'web',
    fields.map((field) => ({
      reason: 'FieldValueInvalid',
      field,
      message: 'Invalid value: 30080: provided port is already allocated',
    })),
  );

test.each<[string, unknown, KubeObject, KubeObject | undefined]>([
  [
    'the port that is taken',
    taken('spec.ports[1].nodePort'),
    service(30080, 30081),
    service(30080, undefined),
  ],
  [
    'both, where both are',
    taken('spec.ports[0].nodePort', 'spec.ports[1].nodePort'),
    service(30080, 30081),
    service(undefined, undefined),
  ],
  [
    'nothing, where something else is wrong, too',
    taken('spec.ports[0].nodePort', 'spec.clusterIPs'),
    service(30080),
    undefined,
  ],
  ['the port of health checks that is taken', healthTaken, checked(30082, 30080), checked(undefined, 30080)],
  [
    'one that cannot be changed where it is another by now',
    taken('spec.healthCheckNodePort'),
    checked(30082),
    checked(),
  ],
  ['nothing, where what is taken was not asked for', healthTaken, checked(undefined, 30080), undefined],
  [
    'nothing, where a port is to be given that nobody asked for',
    taken('spec.ports[0].nodePort'),
    service(undefined),
    undefined,
  ],
  [
    'nothing of what fails otherwise',
    new StatusError(500, 'InternalError', 'range is full'),
    checked(30082),
    undefined,
  ],
  ['nothing, where nothing is said of ports', taken(), service(30080), undefined],
  [
    'nothing of what is not invalid',
    new StatusError(403, 'Forbidden', 'spec.ports[0].nodePort'),
    service(30080),
    undefined,
  ],
  [
    'nothing of another kind',
    taken('spec.ports[0].nodePort'),
    { ...service(30080), kind: 'Gateway' },
    undefined,
  ],
])('left out is %s', (_, error, manifest, expected) => {
  expect(withoutRefusedPorts(error, manifest)).toEqual(expected);
});

test('that another port is there is told, and asked again later', () => {
  expect(changedThere(service(30080), service(30080))).toBeUndefined();
  expect(changedThere(service(undefined), service(31000))).toBeUndefined();
  expect(changedThere(checked(30082), checked(30082))).toBeUndefined();
  expect(changedThere(checked(30082), checked(31000))?.why.message).toContain('31000 instead of 30082');
  expect(changedThere(service(30080, 30081), service(30080, 31865))).toEqual({
    retryAfter: 30_000,
    why: {
      reason: 'Changed',
      message: 'the cluster cannot give the node ports that are asked for: 31865 instead of 30081',
    },
  });
});
