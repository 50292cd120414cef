import { describe, expect, it } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import type { InformerSet } from '../../../client/informers.ts';
import { follow } from '../../../controller/autoscaling/known.ts';
import type { Autoscaler, AutoscalerSpec } from '../../../controller/autoscaling/types.ts';
import type { KubeObject } from '../../../kube/object.ts';

let version = 0;
const metadata = (name: string) => {
  const annotations = { 'kcp.io/cluster': 'shop' };
  return { name, namespace: 'default', uid: name, annotations, resourceVersion: String(++version) };
};
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } };
const queue = { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value' } } };
const requests = { type: 'Pods', pods: { metric: { name: 'requests' }, target: { type: 'AverageValue' } } };
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const farm = { apiVersion: 'a.example/v1', kind: 'Farm', name: 'web' };
const hpa = (name: string, metrics: object[], scaleTargetRef = deployment): Autoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: metadata(name),
  spec: { scaleTargetRef, maxReplicas: 3, metrics } as AutoscalerSpec,
});
const server = (group: string): KubeObject => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { ...metadata(`v1beta1.${group}`), namespace: undefined } as never,
  spec: { group, version: 'v1beta1', service: { namespace: 'default', name: 'metrics' } },
});
const key = (name: string) => `shop/default/${name}`;

function fleet() {
  const failed = (error: unknown) => {
    throw error;
  };
  const [hpas, servers] = [new Cache<KubeObject>(failed), new Cache<KubeObject>(failed)];
  const informers = {
    for: ({ resource }: { resource: string }) => {
      const cache = resource === 'apiservices' ? servers : hpas;
      return Object.assign(cache, { synced: Promise.resolve() });
    },
  } as unknown as InformerSet;
  const woken: string[] = [];
  const { of } = follow(informers, (one) => void woken.push(one));
  const since = () => woken.splice(0).sort();
  return { hpas, servers, of, since };
}

it('thousands of one target wake each other no more often than they must', () => {
  const { hpas, of, since } = fleet();
  const many = 2_000;
  for (let i = 0; i < many; i++) hpas.put(hpa(`w${i}`, [queue], farm));
  expect(since().length).toBeLessThan(2 * many + 10);
  const { scalers = [] } = of(key('w0')) ?? {};
  expect(scalers).toHaveLength(11);
  expect(scalers.at(-1)).toBe('and others');
  for (let i = 0; i < many; i++) hpas.remove(hpa(`w${i}`, [queue], farm));
  expect(since().length).toBeLessThan(2 * many + 10);
});

describe('whom news concerns', () => {
  it('by cpu alone: nobody', () => {
    const { hpas, servers, since } = fleet();
    servers.put(server('external.metrics.k8s.io'));
    hpas.put(hpa('a', [cpu]));
    expect(since()).toEqual([]);
  });

  it('the first that needs an API of metrics, and the last, all of its target', () => {
    const { hpas, of, since } = fleet();
    hpas.put(hpa('a', [cpu]));
    hpas.put(hpa('b', [cpu, queue]));
    expect(new Set(since())).toEqual(new Set([key('a'), key('b')]));
    hpas.put(hpa('c', [queue]));
    expect(since()).toEqual([key('c')]);
    expect(of(key('a'))?.scalers).toEqual(['default/a', 'default/b', 'default/c']);
    hpas.put(hpa('b', [cpu]));
    expect(since()).toEqual([key('b')]);
    hpas.remove(hpa('c', [queue]));
    expect(since()).toEqual([key('a'), key('b'), key('c')]);
    expect(of(key('a'))?.scalers).toEqual(['default/a', 'default/b']);
  });

  it('one that goes to another target: those of both', () => {
    const { hpas, of, since } = fleet();
    for (const [name, target] of [
      ['a', 'web'],
      ['b', 'api'],
    ] as const)
      hpas.put(hpa(name, [cpu], { ...deployment, name: target }));
    hpas.put(hpa('c', [queue]));
    since();
    hpas.put(hpa('c', [queue], { ...deployment, name: 'api' }));
    expect(new Set(since())).toEqual(new Set([key('a'), key('b'), key('c')]));
    expect(of(key('b'))?.scalers).toEqual(['default/b', 'default/c']);
    expect(of(key('a'))?.scalers).toEqual(['default/a']);
  });

  it('a server of metrics: those of all targets of which one needs it', () => {
    const { hpas, servers, of, since } = fleet();
    hpas.put(hpa('a', [cpu]));
    hpas.put(hpa('b', [requests]));
    hpas.put(hpa('other', [queue], { ...deployment, name: 'api' }));
    since();
    servers.put(server('custom.metrics.k8s.io'));
    expect(since()).toEqual([key('a'), key('b')]);
    expect(['a', 'b', 'other'].map((name) => of(key(name))?.isHere)).toEqual([true, true, false]);
    servers.remove(server('custom.metrics.k8s.io'));
    expect(since()).toEqual([key('a'), key('b')]);
    expect(of(key('a'))?.isHere).toBe(false);
  });
});
