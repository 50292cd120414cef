import { expect, test } from 'vitest';
import { podRequests } from '../../../cluster/pod-spec.ts';
import { formatQuantity } from '../../../kube/quantity.ts';

const cpu = (requests: string | undefined, limits?: string) => ({
  resources: { ...(requests && { requests: { cpu: requests } }), ...(limits && { limits: { cpu: limits } }) },
});
const sidecar = (requests: string) => ({ ...cpu(requests), restartPolicy: 'Always' });

test.each<[string, object, string | undefined]>([
  ['its containers together', { containers: [cpu('1'), cpu('2')] }, '3'],
  ['a limit where nothing is asked for', { containers: [cpu(undefined, '2'), cpu('1', '3')] }, '3'],
  [
    'what an init container asks for before',
    { initContainers: [cpu('5'), cpu('4')], containers: [cpu('1')] },
    '5',
  ],
  ['sidecars beside', { initContainers: [sidecar('2')], containers: [cpu('1')] }, '3'],
  [
    'an init container beside the sidecars',
    { initContainers: [sidecar('2'), cpu('4')], containers: [cpu('1')] },
    '6',
  ],
  ['what is asked for the pod as a whole', { ...cpu('2'), containers: [cpu('1')] }, '2'],
  ['a limit of the pod as a whole', { ...cpu(undefined, '4'), containers: [{}] }, '4'],
  ['its overhead', { containers: [cpu('1')], overhead: { cpu: '250m' } }, '1250m'],
  ['nothing', { containers: [{}] }, undefined],
  ['what cannot be read is nothing', { containers: [cpu('much')] }, undefined],
])('a pod asks for %s', (_what, spec, expected) => {
  const asked = podRequests(spec);
  const amount = asked.get('cpu');
  expect(amount && formatQuantity(amount)).toBe(expected);
  expect(formatQuantity(asked.get('pods') as never)).toBe('1');
});
