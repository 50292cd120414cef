import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { warningsOf } from '../../../../kube/warnings/index.ts';
import { patienceMs } from '../../../eventually.ts';
import { infoOf, named, podTemplate } from '../kinds.ts';

const pod = (container: object, spec: object = {}) =>
  named('v1', 'Pod', { spec: { containers: [{ name: 'web', image: 'tide:1', ...container }], ...spec } });
const items = (...paths: string[]) => paths.map((path) => ({ key: path, path }));

const table: [string, KubeObject, string[]][] = [
  ['a plain Pod', pod({}), []],
  [
    'an old label of nodes',
    pod({}, { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }),
    ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    'a variable twice',
    pod({
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
        { name: 'A', value: '$(A)3' },
      ],
    }),
    ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  ],
  [
    'files that hide each other',
    pod({}, { volumes: [{ name: 'v', configMap: { name: 'c', items: items('a', 'a/b', 'c') } }] }),
    ['volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a"'],
  ],
  [
    'files that hide each other, from the first to the last',
    pod(
      {},
      { volumes: [{ name: 'v', secret: { secretName: 's', items: items('a/b/c', 'x', 'a//', 'a/b/c') } }] },
    ),
    ['"a" with "a/b/c"', '"a/b/c" with "a/b/c"', '"a/b/c" with "a"'].map(
      (pair) => `volume "v" (Secret "s"): overlapping paths: ${pair}`,
    ),
  ],
  [
    'files of several sources that hide each other',
    pod(
      {},
      {
        volumes: [
          {
            name: 'v',
            projected: {
              sources: [
                { clusterTrustBundle: { signerName: 'a.b/c', path: 'p' } },
                { podCertificate: { signerName: 'a.b/c', keyPath: 'p', credentialBundlePath: 'p/q' } },
              ],
            },
          },
        ],
      },
    ),
    [
      '"p" (PodCertificate key) with "p" (ClusterTrustBundle "a.b/c")',
      '"p/q" (PodCertificate credential bundle) with "p" (ClusterTrustBundle "a.b/c")',
      '"p/q" (PodCertificate credential bundle) with "p" (PodCertificate key)',
    ].map((pair) => `volume "v" (Projected): overlapping paths: ${pair}`),
  ],
  [
    'a part of a byte',
    pod({ resources: { limits: { memory: '100m', cpu: '100m' } } }),
    [
      'spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
    ],
  ],
  [
    'one port twice',
    pod({
      ports: [
        { containerPort: 80, protocol: 'TCP' },
        { containerPort: 80, protocol: 'TCP' },
      ],
    }),
    ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
  ],
  [
    'a dead volume plugin in a template',
    named('apps/v1', 'DaemonSet', {
      spec: { template: podTemplate({ volumes: [{ name: 'v', glusterfs: { endpoints: 'e', path: 'p' } }] }) },
    }),
    ['spec.template.spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+'],
  ],
  [
    'a headless Service that asks for more',
    named('v1', 'Service', { spec: { type: 'ClusterIP', clusterIP: 'None', sessionAffinity: 'ClientIP' } }),
    ['spec.SessionAffinity is ignored for headless services'],
  ],
  [
    'an address in another spelling',
    named('v1', 'Endpoints', {
      subsets: [{ addresses: [{ ip: '2001:DB8:0::1' }, { ip: '::ffff:1.2.3.4' }] }],
    }),
    [
      'subsets[0].addresses[0].ip: IPv6 address "2001:DB8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      'subsets[0].addresses[1].ip: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"',
    ],
  ],
  [
    'a TLS Secret without PEM',
    named('v1', 'Secret', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'YQ==' } }),
    ['tls: failed to find any PEM data in certificate input'],
  ],
  [
    'formats that mean nothing',
    named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      spec: {
        versions: [
          {
            name: 'v1',
            schema: {
              openAPIV3Schema: {
                properties: {
                  a: { type: 'integer', format: 'uuid' },
                  b: { type: 'string', format: 'date-time' },
                  c: { items: { type: 'string', format: 'tide' } },
                },
              },
            },
          },
        ],
      },
    }),
    ['unrecognized format "uuid"', 'unrecognized format "tide"'],
  ],
];

describe('warnings', () => {
  it.each(table)('%s', (_name, object, expected) => {
    expect(warningsOf(object, undefined, infoOf(object))).toEqual(expected);
  });

  it('does not repeat itself while a spec stays', () => {
    const object = table.find(([name]) => name === 'a dead volume plugin in a template')?.[1] as KubeObject;
    const old = structuredClone(object);
    object.spec = { ...(object.spec as object), templateGeneration: 1 };
    object.metadata.generation = 1;
    old.metadata.generation = 1;
    expect(warningsOf(object, old, infoOf(object))).toEqual([]);
    object.metadata.generation = 2;
    expect(warningsOf(object, old, infoOf(object))).toHaveLength(1);
  });

  it.each([
    ['all apart', (i: number) => `p${i}`, 0],
    ['all one', () => 'p', 257],
    ['all below the last', (i: number) => (i === 9999 ? 'p' : `p/${i}`), 257],
    ['full of slashes', () => `p${'/'.repeat(100_000)}q`, 257],
  ])('of many files, %s, are told in no time', (_name, path, most) => {
    const count = path(0).length > 1000 ? 20 : 10_000;
    const many = items(...Array.from({ length: count }, (_, i) => path(i)));
    const object = pod({}, { volumes: [{ name: 'v', configMap: { name: 'c', items: many } }] });
    const told = runInNewContext(
      'run()',
      { run: () => warningsOf(object, undefined, infoOf(object)) },
      { timeout: patienceMs },
    );
    expect(told.length > 0).toBe(most > 0);
    expect(told.length).toBeLessThan(2 * most + 1);
  });

  it.each([
    ['all one', () => ({}), 256],
    ['each at its port of the host', (i: number) => ({ hostPort: i + 1 }), 0],
    ['at one port of each address', (i: number) => ({ hostPort: 1, hostIP: `10.0.${i >> 8}.${i & 255}` }), 0],
    ['at one port of one address', () => ({ hostPort: 1, hostIP: '10.0.0.1' }), 256],
  ])('of many ports, %s, are told in no time', (_name, more, most) => {
    const ports = (_: unknown, i: number) => ({ containerPort: 80, protocol: 'TCP', ...more(i) });
    const object = pod({ ports: Array.from({ length: 20_000 }, ports) });
    const told = runInNewContext(
      'run()',
      { run: () => warningsOf(object, undefined, infoOf(object)) },
      { timeout: patienceMs },
    );
    expect(told).toHaveLength(most);
  });
});
