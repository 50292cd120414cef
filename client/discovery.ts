import { isResourceName, mostResources } from '../kube/discovery/extension.ts';
import { type GroupVersion, groupResource, parseApiVersion } from '../kube/gvk.ts';
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

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api */
export async function discover(client: Client, options: DiscoverOptions = {}): Promise<Discovery> {
  const groups = (await client.json('/apis', options)) as { groups?: GroupEntry[] };
  const versions: GroupVersion[] = [{ group: '', version: 'v1' }];
  for (const group of groups.groups ?? []) versions.push(...preferredFirst(group));
  const failed: GroupVersion[] = [];
  const lists = await Promise.all(
    versions.map(async (gv) => {
      try {
        return await discoverVersion(client, gv, options);
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

/** What is served of one version; rejects where that does not answer, or with no such list. */
export async function discoverVersion(
  client: Client,
  gv: GroupVersion,
  options: DiscoverOptions = {},
): Promise<DiscoveredResource[]> {
  const path = gv.group === '' ? `/api/${gv.version}` : `/apis/${gv.group}/${gv.version}`;
  const entries = entriesOf(await client.json(path, options));
  return entries.map(({ name, ...entry }) => ({ ...gv, resource: name, ...entry }));
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
