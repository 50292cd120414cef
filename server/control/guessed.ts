import { collectionRange, internalPrefix } from '../../apiserver/registry/keys.ts';

/** Written by users, by clusters or once: what our controllers change is pushed out by none of it. */
const others = [
  ['', 'events', true],
  ['', 'endpoints', true],
  ['', 'nodes', false],
  ['', 'pods', true],
  ['', 'secrets', true],
  ['apps', 'controllerrevisions', true],
  ['apps', 'replicasets', true],
  ['coordination.k8s.io', 'leases', true],
  ['discovery.k8s.io', 'endpointslices', true],
] as const;

const prefixes = [
  internalPrefix,
  ...others.map(
    ([group, resource, namespaced]) => collectionRange({ group, resource, namespaced }, '*', '').start,
  ),
];

/** Of which keys the process of the controllers keeps what it saw last: see storage/README.md. */
export function isGuessed(key: string): boolean {
  return !prefixes.some((prefix) => key.startsWith(prefix));
}
