import { aggregatedContentType } from '../kube/discovery/aggregated.ts';
import { isResourceName, mostResources } from '../kube/discovery/extension.ts';
import { formatApiVersion, type GroupVersion, groupResource, parseApiVersion } from '../kube/gvk.ts';
import { isRecord } from '../kube/untyped.ts';
import type { Client } from './client.ts';
import type { ResourceRef } from './url.ts';

export interface DiscoveredResource extends ResourceRef {
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
}

export interface Discovery {
  /** Each resource once, in its group's preferred version if that has it; no subresources, and none whose name leads elsewhere. */
  resources: DiscoveredResource[];
  /** Group versions that did not answer, or with no such list: what they serve is unknown, not absent. */
  failed: GroupVersion[];
}

interface GroupEntry {
  name: string;
  versions: { groupVersion: string; version: string }[];
  preferredVersion?: { version: string };
}

interface DiscoverOptions {
  cluster?: string | undefined;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  /** A longer answer is none. */
  maxBytes?: number;
}

/**
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
 * What the server says of all versions in two documents is asked so, and the others one by one.
 */
export async function discover(client: Client, options: DiscoverOptions = {}): Promise<Discovery> {
  const [groups, known] = await Promise.all([
    client.json('/apis', options) as Promise<{ groups?: GroupEntry[] }>,
    told(client, options),
  ]);
  const versions: GroupVersion[] = [{ group: '', version: 'v1' }];
  for (const group of groups.groups ?? []) versions.push(...preferredFirst(group));
  const failed: GroupVersion[] = [];
  const lists = await Promise.all(
    versions.map(async (gv) => {
      try {
        return known.get(formatApiVersion(gv)) ?? (await discoverVersion(client, gv, options));
      } catch {
        options.signal?.throwIfAborted();
        // Also one that is not found: it was there a moment ago, and perhaps it comes.
        failed.push(gv);
        return [];
      }
    }),
  );
  const resources = new Map<string, DiscoveredResource>();
  for (const resource of lists.flat()) {
    const key = groupResource(resource);
    if (!resources.has(key)) resources.set(key, resource);
  }
  return { resources: [...resources.values()], failed };
}

type ByVersion = Map<string, DiscoveredResource[]>;

/** By group version, from the aggregated documents as whoever asks for no more gets them, without what is stale there; of a server that has none nothing is told. */
async function told(client: Client, options: DiscoverOptions): Promise<ByVersion> {
  const known: ByVersion = new Map();
  const headers = { accept: aggregatedContentType('v2') };
  const read = async (path: string) => {
    const found = await client.json(path, { ...options, headers }).catch(() => undefined);
    const { kind, items } = isRecord(found) ? found : {};
    if (kind !== 'APIGroupDiscoveryList' || !Array.isArray(items)) return;
    for (const { metadata, versions } of items.filter(isRecord)) {
      const group = isRecord(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
      for (const { version, freshness, resources } of asRecords(versions)) {
        if (typeof version !== 'string' || freshness !== 'Current') continue;
        const gv = { group, version };
        const listed = asRecords(resources).map(({ resource, scope, responseKind, verbs }) => ({
          name: resource,
          kind: isRecord(responseKind) ? responseKind['kind'] : undefined,
          namespaced: scope === 'Namespaced',
          verbs,
        }));
        // What is too long there is asked for by itself, and fails alone.
        if (listed.length <= mostResources)
          known.set(formatApiVersion(gv), resourcesOf(gv, { resources: listed }));
      }
    }
  };
  await Promise.all([read('/api'), read('/apis')]);
  options.signal?.throwIfAborted();
  return known;
}

const asRecords = (list: unknown) => (Array.isArray(list) ? list.filter(isRecord) : []);

/** What is served of one version; rejects where that does not answer, or with no such list. */
export async function discoverVersion(
  client: Client,
  gv: GroupVersion,
  options: DiscoverOptions = {},
): Promise<DiscoveredResource[]> {
  const path = gv.group === '' ? `/api/${gv.version}` : `/apis/${gv.group}/${gv.version}`;
  return resourcesOf(gv, await client.json(path, options));
}

function resourcesOf(gv: GroupVersion, list: unknown): DiscoveredResource[] {
  return entriesOf(list).map(({ name, ...entry }) => ({ ...gv, resource: name, ...entry }));
}

interface ResourceEntry {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
}

/** Of a list that an API server of somebody's own may have made up. Throws of what is none, or is too long. */
function entriesOf(list: unknown): ResourceEntry[] {
  const given = isRecord(list) ? (list['resources'] ?? []) : undefined;
  if (!Array.isArray(given) || given.length > mostResources) throw new Error('no list of resources');
  const entries: ResourceEntry[] = [];
  for (const { name, kind, namespaced, verbs } of given.filter(isRecord)) {
    if (!isResourceName(name)) continue;
    const known = Array.isArray(verbs) ? verbs.filter((verb) => typeof verb === 'string') : [];
    entries.push({
      name,
      kind: typeof kind === 'string' ? kind : '',
      namespaced: namespaced === true,
      verbs: known,
    });
  }
  return entries;
}

function preferredFirst(group: GroupEntry): GroupVersion[] {
  const all = group.versions.map((entry) => parseApiVersion(entry.groupVersion));
  const preferred = group.preferredVersion?.version;
  return [...all.filter((gv) => gv.version === preferred), ...all.filter((gv) => gv.version !== preferred)];
}
