import { describe, expect, test } from 'vitest';
import { fromAnswer, obstacle, told } from '../../../controller/aggregation/decide.ts';
import type { KubeObject } from '../../../kube/object.ts';

const target = { namespace: 'ns', name: 'svc', port: 443 };
const object = (rest: object) => ({ apiVersion: 'v1', kind: 'X', metadata: {}, ...rest }) as KubeObject;
const service = (spec: object) =>
  object({ spec: { type: 'ClusterIP', ports: [{ port: 443, name: 'web' }], ...spec } });
const slice = (ready: boolean | undefined, name = 'web') =>
  object({ endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }], ports: [{ name, port: 8443 }] });

describe('what keeps a Service from being asked', () => {
  test.each<[string, KubeObject | undefined, KubeObject[], string | undefined, string | undefined]>([
    ['no Service', undefined, [], 'ServiceNotFound', 'service/svc in "ns" is not present'],
    [
      'another port',
      service({ ports: [{ port: 80 }] }),
      [],
      'ServicePortError',
      'service/svc in "ns" is not listening on port 443',
    ],
    ['no slices', service({}), [], 'EndpointsNotFound', 'cannot find endpointslices for service/svc in "ns"'],
    [
      'nothing ready',
      service({}),
      [slice(false)],
      'MissingEndpoints',
      'endpointslices for service/svc in "ns" have no addresses with port name "web"',
    ],
    ['another name of the port', service({}), [slice(true, 'other')], 'MissingEndpoints', expect.any(String)],
    ['nothing, where readiness is not told', service({}), [slice(undefined)], undefined, undefined],
    [
      'nothing, where it is another name',
      service({ type: 'ExternalName', ports: [] }),
      [],
      undefined,
      undefined,
    ],
  ])('%s', (_what, one, slices, reason, message) => {
    expect(obstacle(target, one, slices)).toEqual(
      reason === undefined ? undefined : { status: 'False', reason, message },
    );
  });
});

describe('what an answer says', () => {
  const url = 'https://svc.ns.svc:443/apis/g/v1';
  test.each([
    [{ status: 200 }, 'True', 'Passed', 'all checks passed'],
    [
      { status: 401 },
      'False',
      'FailedDiscoveryCheck',
      `failing or missing response from ${url}: bad status from ${url}: 401`,
    ],
    [
      { failure: 'EOF' },
      'False',
      'FailedDiscoveryCheck',
      `failing or missing response from ${url}: Get "${url}": EOF`,
    ],
    [{ own: true }, 'True', 'Local', 'this server serves g/v1 itself: the service is not asked'],
  ])('%j', (answer, status, reason, message) => {
    expect(fromAnswer(target, 'g/v1', answer)).toEqual({ status, reason, message });
  });
});

test('the time of the condition is that of its status, and nothing is written that is so', () => {
  const failed = { status: 'False', reason: 'A', message: 'a' } as const;
  const first = told(object({}) as never, failed, 'one');
  expect(first.status?.conditions).toEqual([{ type: 'Available', lastTransitionTime: 'one', ...failed }]);
  expect(told(first, failed, 'two')).toBe(first);
  const again = told(first, { ...failed, reason: 'B' }, 'two');
  expect(again.status?.conditions).toMatchObject([{ reason: 'B', lastTransitionTime: 'one' }]);
  const passed = told(again, { status: 'True', reason: 'Passed', message: '' }, 'three');
  expect(passed.status?.conditions).toMatchObject([{ status: 'True', lastTransitionTime: 'three' }]);
});
