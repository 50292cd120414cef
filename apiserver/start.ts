import { rootCluster } from '../cluster/names.ts';
import { flowResources } from '../kube/flow/bootstrap.ts';
import type { Core } from './core.ts';
import { claimExisting } from './registry/kinds/claims.ts';
import { writeDefaults } from './registry/kinds/default-objects.ts';
import { followDefinitions } from './registry/kinds/definitions.ts';
import { createInitialNamespaces } from './registry/namespaces.ts';
import type { ObjectRegistry } from './registry/types.ts';

/** What is needed before the first answer; once, but a store that was not there yet may be there the next time. */
export function starter(
  { store, catalog, paths, registry, gate, closing }: Core,
  fair: boolean,
): () => Promise<void> {
  const follow = again(() => followDefinitions(store, catalog, closing));
  const know = again(() => paths.follow(closing));
  const allow = again(() => registry.roles.follow(store, closing));
  const sort = again(() => registry.flows.follow(store, closing));
  const classify = again(() => registry.classes.follow(store, closing));
  const bound = again(async () => gate?.tree.follow(store, closing));
  return again(async () => {
    await Promise.all([follow(), know(), allow(), sort(), classify(), bound()]);
    await createInitialNamespaces(registry, 'root');
    if (fair) await writeDefaultFlows(registry);
    await claimExisting(registry);
  });
}

/** Of root: they say who is served first, and answers name them. Where the store takes none, they count all the same. */
async function writeDefaultFlows(registry: ObjectRegistry): Promise<void> {
  for (const resource of flowResources) {
    await writeDefaults(registry, rootCluster, resource)?.catch(() => undefined);
  }
}

/** Runs `work` until it has succeeded once. */
function again(work: () => Promise<void>): () => Promise<void> {
  let under: Promise<void> | undefined;
  return () => {
    under ??= work().catch((error) => {
      under = undefined;
      throw error;
    });
    return under;
  };
}
