import { isPlaceable, placedKinds } from '../cluster/kinds.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { KubeList, KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Engine } from './engine.ts';

/**
 * Removes our namespaces that nothing uses any more, after `delayMs` without use. One in which somebody else
 * keeps something stays: deleting it would delete that too.
 */
export function startCleanup(delayMs: number): {
  add(namespace: string): void;
  run(engine: Engine, ready: readonly Promise<unknown>[]): Promise<void>;
} {
  const queue = new WorkQueue();
  const unusedSince = new Map<string, number>();
  const reconcile = async (engine: Engine, name: string): Promise<Retry | undefined> => {
    const own = engine.namespaces.own(name);
    if (!own || own.object.metadata.deletionTimestamp || isUsed(engine, name)) {
      unusedSince.delete(name);
      return undefined;
    }
    const since = unusedSince.get(name) ?? Date.now();
    unusedSince.set(name, since);
    const wait = since + delayMs - Date.now();
    if (wait > 0) return { after: wait };
    if (await holdsForeign(engine, name)) return { after: Math.max(delayMs, 60_000) };
    // What arrived while we looked counts.
    if (isUsed(engine, name)) return undefined;
    await engine.namespaces.delete(name);
    unusedSince.delete(name);
    return undefined;
  };
  return {
    add: (namespace) => queue.add(namespace),
    async run(engine, ready) {
      engine.namespaces.informer.on({ add: ({ metadata }) => queue.add(metadata.name ?? '') });
      const { name, signal, logger } = engine;
      const work = (key: string) => reconcile(engine, key);
      await runController({
        name: `syncer-cleanup-${name}`,
        queue,
        workers: 1,
        reconcile: work,
        signal,
        logger,
        ready,
      });
    },
  };
}

function isUsed(engine: Engine, name: string): boolean {
  if (engine.shares.byIndex('namespace', name).length > 0) return true;
  for (const _ of engine.physical.inNamespace(name)) return true;
  return false;
}

/** Anything of a kind that people put into namespaces, but for what every namespace gets by itself. */
async function holdsForeign(engine: Engine, namespace: string): Promise<boolean> {
  for (const kind of placedKinds) {
    if (kind.role === 'closure' && kind.reach === 'backs') continue;
    let list: KubeList;
    try {
      list = await engine.client.list(kind, { namespace, signal: engine.signal });
    } catch (error) {
      if (isStatusError(error, 'NotFound')) continue;
      throw error;
    }
    // What a workload's controllers make beside it, claims and slices, goes with the workload.
    const isMade = ({ metadata }: KubeObject) =>
      kind.role === 'closure' && metadata.ownerReferences?.some((owner) => owner.controller) === true;
    if (list.items.some((object) => isPlaceable(kind, object) && !isMade(object))) return true;
  }
  return false;
}
