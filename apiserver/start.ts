import type { Core } from './core.ts';
import { claimExisting } from './registry/kinds/claims.ts';
import { followDefinitions } from './registry/kinds/definitions.ts';
import { createInitialNamespaces } from './registry/namespaces.ts';

/** What is needed before the first answer; once, but a store that was not there yet may be there the next time. */
export function starter({ store, catalog, paths, registry, closing }: Core): () => Promise<void> {
  const follow = again(() => followDefinitions(store, catalog, closing));
  const know = again(() => paths.follow(closing));
  const allow = again(() => registry.roles.follow(store, closing));
  return again(async () => {
    await Promise.all([follow(), know(), allow()]);
    await createInitialNamespaces(registry, 'root');
    await claimExisting(registry);
  });
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
