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
  expect(changedThere(service(30080, 30081), service(30080, 31865))).toEqual({
    retryAfter: 30_000,
    why: {
      reason: 'Changed',
      message: 'the cluster cannot give the node ports that are asked for: 31865 instead of 30081',
    },
  });
});
