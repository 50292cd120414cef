import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { loopbackOf, podAddress } from '../../kubelet/address.ts';
import { graceOf, type Local, portsOf, type Step, stepOf } from '../../kubelet/lifecycle.ts';

const pod = (metadata: object = {}, spec: object = { nodeName: 'east-1' }, phase = 'Pending') =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', ...metadata },
    spec,
    status: { phase },
  }) as KubeObject;
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('a kubelet', () => {
  it.each<[string, KubeObject | undefined, Local, Step]>([
    ['a pod that is bound to a node', pod(), 'none', 'start'],
    ['a pod that is bound to none', pod({}, {}), 'none', 'nothing'],
    ['a pod that has ended', pod({}, { nodeName: 'east-1' }, 'Succeeded'), 'none', 'nothing'],
    ['a pod that runs', pod(), 'running', 'nothing'],
    ['a pod that runs and is deleted', pod(deleted), 'running', 'stop'],
    ['a pod that was told to end', pod(deleted), 'stopping', 'nothing'],
    ['a pod that was deleted before it ran', pod(deleted), 'none', 'remove'],
    ['a pod that is there no more', undefined, 'running', 'kill'],
    ['a pod that is there no more and never ran', undefined, 'none', 'nothing'],
  ])('%s', (_, of, local, step) => {
    expect(stepOf(of, local)).toBe(step);
  });

  it.each([
    [{ deletionGracePeriodSeconds: 0 }, 5, 0],
    [{}, 5, 5],
    [{}, undefined, 30],
  ])(
    'gives a pod the grace that its deletion, its spec or the default says: %j, %s: %i s',
    (metadata, own, seconds) => {
      expect(graceOf(pod(metadata, { terminationGracePeriodSeconds: own }))).toBe(seconds);
    },
  );

  it('has a pod listen at its TCP ports, each once', () => {
    const containers = [
      { ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }] },
      { ports: [{ containerPort: 80 }, { containerPort: 81, protocol: 'TCP' }] },
      {},
    ];
    expect(portsOf(pod({}, { containers }))).toEqual([80, 81]);
  });

  it('gives every pod an address of its own, and each of them its own on this machine', () => {
    expect([podAddress(0, 1), podAddress(1, 257)]).toEqual(['10.128.0.1', '10.129.1.1']);
    expect(loopbackOf('10.129.1.1')).toBe('127.129.1.1');
  });
});
