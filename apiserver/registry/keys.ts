import type { Range } from '../../storage/store.ts';
import { prefixRange } from '../../storage/store.ts';

/** Under which names objects are stored: two served groups may share one (events). */
export interface StoredAs {
  group: string;
  resource: string;
  namespaced: boolean;
}

const shared: Readonly<Record<string, string>> = { 'events.k8s.io/events': '' };

export function storageGroup(group: string, resource: string): string {
  return shared[`${group}/${resource}`] ?? group;
}

/** `/<group|core>/<resource>/<cluster>/[<namespace>/]<name>` */
export function objectKey(resource: StoredAs, cluster: string, namespace: string, name: string): string {
  const place = resource.namespaced ? `${word(namespace)}/` : '';
  return `${kindPrefix(resource)}${cluster}/${place}${word(name)}`;
}

/** What is the server's own, and no object: `!` begins no group's name. */
export const internalPrefix = '/!internal/';

/** All keys of a kind, of one logical cluster (`*`: all), of one namespace (empty: all). */
export function collectionRange(resource: StoredAs, cluster: string, namespace: string): Range {
  const inCluster = cluster === '*' ? '' : `${cluster}/`;
  const inNamespace = resource.namespaced && namespace !== '' && cluster !== '*' ? `${word(namespace)}/` : '';
  return prefixRange(`${kindPrefix(resource)}${inCluster}${inNamespace}`);
}

export function keyRange(key: string): Range {
  return { start: key, end: `${key}\0` };
}

export interface KeyParts {
  cluster: string;
  namespace: string;
  name: string;
}

export function parseKey(resource: StoredAs, key: string): KeyParts {
  const [, , , cluster = '', first = '', second = ''] = key.split('/');
  return resource.namespaced
    ? { cluster, namespace: unword(first), name: unword(second) }
    : { cluster, namespace: '', name: unword(first) };
}

/** By what is served, which lives long. */
const prefixes = new WeakMap<StoredAs, string>();

function kindPrefix(resource: StoredAs): string {
  const known = prefixes.get(resource);
  if (known !== undefined) return known;
  const prefix = `/${storageGroup(resource.group, resource.resource) || 'core'}/${resource.resource}/`;
  prefixes.set(resource, prefix);
  return prefix;
}

/** Names hold no `/` and no `%`; what is not printable ASCII is percent-encoded, which therefore stays unique. */
function word(text: string): string {
  return /^[!-~]*$/.test(text) ? text : encodeURIComponent(text);
}

function unword(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text;
}
