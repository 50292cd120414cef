import type { Client } from '../client/client.ts';
import { logicalClusterOf } from '../client/url.ts';
import { pathOfLogicalCluster } from '../cluster/logical.ts';
import { rootCluster } from '../cluster/names.ts';
import { isStatusError } from '../kube/status.ts';
import { FailedError } from './errors.ts';
import { logicalClusters, workspaces } from './resources.ts';

/** More than these are not told by name. */
const most = 20;

/** Throws FailedError with the logical clusters that there are where `path` is none of them. */
export async function insist(client: Client, path: string): Promise<void> {
  try {
    await client.list(workspaces, { cluster: path });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    const known = await pathsBelow(client);
    const rest = known.length > most ? ', ...' : '';
    throw new FailedError(`no logical cluster ${path}; there are: ${known.slice(0, most).join(', ')}${rest}`);
  }
}

/** Of the root and, level by level, of the Workspaces in each: by their paths, as far as they are told. */
async function pathsBelow(client: Client): Promise<string[]> {
  const paths = [rootCluster];
  for (const path of paths) {
    if (paths.length > most) break;
    const { items } = await client.list(workspaces, { cluster: path });
    paths.push(...items.map(({ metadata }) => `${path}:${metadata.name}`));
  }
  return paths;
}

/** What people call a logical cluster, by its id; one that nobody tells of keeps its id. */
export async function pathsById(client: Client): Promise<(id: string) => string> {
  const { items } = await client.list(logicalClusters, { cluster: '*' });
  const paths = new Map(
    items.map((item) => {
      const id = logicalClusterOf(item);
      return [id, pathOfLogicalCluster(id, item.metadata.annotations)] as const;
    }),
  );
  return (id) => paths.get(id) ?? id;
}
