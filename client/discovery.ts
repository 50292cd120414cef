import { type GroupVersion, parseApiVersion } from '../kube/gvk.ts';
import type { Client } from './client.ts';
import type { ResourceRef } from './url.ts';

export interface DiscoveredResource extends ResourceRef {
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
}

export interface Discovery {
  /** Each resource once, in its group's preferred version if that has it; no subresources. */
  resources: DiscoveredResource[];
  /** Group versions that did not answer: what they serve is unknown, not absent. */
  failed: GroupVersion[];
}

interface GroupEntry {
  name: string;
  versions: { groupVersion: string; version: string }[];
  preferredVersion?: { version: string };
}

interface ResourceEntry {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs?: string[];
}

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api */
export async function discover(
  client: Client,
  options: {
    cluster?: string | undefined;
    signal?: AbortSignal | undefined;
    headers?: Record<string, string>;
  } = {},
): Promise<Discovery> {
  const groups = (await client.json('/apis', options)) as { groups?: GroupEntry[] };
  const versions: GroupVersion[] = [{ group: '', version: 'v1' }];
  for (const group of groups.groups ?? []) versions.push(...preferredFirst(group));
  const failed: GroupVersion[] = [];
  const lists = await Promise.all(
    versions.map(async (gv) => {
      const path = gv.group === '' ? `/api/${gv.version}` : `/apis/${gv.group}/${gv.version}`;
      try {
        const list = (await client.json(path, options)) as { resources?: ResourceEntry[] };
        return { gv, entries: list.resources ?? [] };
      } catch {
        options.signal?.throwIfAborted();
        // Also one that is not found: it was there a moment ago, and perhaps it comes.
        failed.push(gv);
        return { gv, entries: [] };
      }
    }),
  );
  const resources = new Map<string, DiscoveredResource>();
  for (const { gv, entries } of lists) {
    for (const entry of entries.filter(({ name }) => !name.includes('/'))) {
      const key = `${gv.group}/${entry.name}`;
      const { name, kind, namespaced, verbs = [] } = entry;
      if (!resources.has(key)) resources.set(key, { ...gv, resource: name, kind, namespaced, verbs });
    }
  }
  return { resources: [...resources.values()], failed };
}

function preferredFirst(group: GroupEntry): GroupVersion[] {
  const all = group.versions.map((entry) => parseApiVersion(entry.groupVersion));
  const preferred = group.preferredVersion?.version;
  return [...all.filter((gv) => gv.version === preferred), ...all.filter((gv) => gv.version !== preferred)];
}
