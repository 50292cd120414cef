import { expect, test } from 'vitest';
import { checkLogOptions, checkPorts, refuseStream } from '../../../apiserver/handlers/pods/streams.ts';
import type { KubeObject } from '../../../kube/object.ts';

function pod(spec: object): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec } as KubeObject;
}

const one = pod({ containers: [{ name: 'web' }] });
const many = pod({
  containers: [{ name: 'web' }, { name: 'side' }],
  initContainers: [{ name: 'init' }],
  ephemeralContainers: [{ name: 'debug' }],
});
const placed = pod({ containers: [{ name: 'web' }], nodeName: 'n' });

test.each([
  [one, 'exec', '', 'pod p does not have a host assigned'],
  [one, 'exec', 'container=web', 'pod p does not have a host assigned'],
  [one, 'attach', 'container=none', 'container none is not valid for pod p'],
  [many, 'exec', '', 'a container name must be specified for pod p, choose one of: [init web side debug]'],
  [many, 'exec', 'container=debug', 'pod p does not have a host assigned'],
  [many, 'portforward', '', 'pod p does not have a host assigned'],
  [pod({}), 'exec', '', 'a container name must be specified for pod p'],
  [placed, 'exec', '', 'pod p runs on no cluster that can be reached'],
])('a stream of a pod that runs nowhere: %# %s %s', (of, subresource, query, message) => {
  const asked = new URLSearchParams(query);
  const open = () => {
    checkPorts(asked);
    refuseStream(of, subresource, asked);
  };
  expect(open).toThrow(expect.objectContaining({ code: 400, message }));
});

test('a port is a number, whatever pod is meant', () => {
  expect(() => checkPorts(new URLSearchParams('ports=80&ports=x'))).toThrow(
    expect.objectContaining({
      code: 400,
      message: 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax',
    }),
  );
});

test.each([
  ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
  ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
  ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
  ['stream=Stdout', 422, 'stream: Forbidden: may not be specified'],
  [
    'sinceTime=2020-01-01T00:00:00Z&sinceSeconds=1',
    422,
    '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  ],
  ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['tailLines=', 400, 'strconv.ParseInt: parsing "": invalid syntax'],
  ['sinceTime=x', 400, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
])('%s is no option of a log', (query, code, message) => {
  const whole = code === 422 ? `PodLogOptions "p" is invalid: ${message}` : message;
  expect(() => checkLogOptions('p', new URLSearchParams(query))).toThrow(
    expect.objectContaining({ code, message: whole }),
  );
});

test.each(['', 'tailLines=0', 'limitBytes=1&sinceSeconds=1', 'follow=x', 'sinceTime='])(
  '%s are options of a log',
  (query) => {
    expect(() => checkLogOptions('p', new URLSearchParams(query))).not.toThrow();
  },
);
