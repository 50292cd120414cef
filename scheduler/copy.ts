import { Cache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import { InformerSet } from '../client/informers.ts';
import { objectKey, type ResourceRef } from '../client/url.ts';
import { slim } from '../controller/slim.ts';
import type { KubeObject } from '../kube/object.ts';
import { observe, type World } from './world.ts';

/** How long a plan waits for custom resources. */
const ruledMs = 5_000;

/** An object as it would be, with where it is in the API. Its annotations name its logical cluster by id. */
export interface Changed {
  resource: ResourceRef;
  object: KubeObject;
}

/**
 * What the scheduler sees, as of now and never again, with `changes` as if they had been made. `client` reads all
 * logical clusters, all of what can be placed: that is the cost of each copy.
 */
export async function copyWorld(
  client: Client,
  changes: readonly Changed[],
  signal: AbortSignal,
): Promise<World> {
  const reading = new AbortController();
  const both = AbortSignal.any([signal, reading.signal]);
  const informers = new InformerSet(client, { cluster: '*', signal: both, keep: slim });
  try {
    const { ruled } = observe(informers);
    await informers.synced();
    // What rules are about is known now, and read only then. What cannot be read stays in the plan as it is.
    await ruled.settled(ruledMs, both);
  } finally {
    reading.abort();
  }
  return worldOf((resource) => {
    const changed = changes.filter((one) => isOf(one, resource)).map(({ object }) => object);
    const informer = informers.for(resource);
    return informer.hasSynced ? [...informer.list(), ...changed] : undefined;
  });
}

/**
 * What the scheduler sees where there is nothing but these; of two objects of one name the last counts. Undefined: what there
 * is of them is not known.
 */
export function worldOf(objectsOf: (resource: ResourceRef) => readonly KubeObject[] | undefined): World {
  return observe({
    for: <T extends KubeObject>(resource: ResourceRef) =>
      still(resource, objectsOf(resource) as readonly T[] | undefined),
  });
}

function isOf({ resource: { group, resource } }: Changed, other: ResourceRef): boolean {
  return group === other.group && resource === other.resource;
}

/** An informer that hears of nothing any more. */
function still<T extends KubeObject>(resource: ResourceRef, known: readonly T[] | undefined): Informer<T> {
  const objects = known ?? [];
  const cache = new Cache<T>(() => {});
  const byKey = new Map(objects.map((object) => [objectKey(object), object]));
  cache.replace([...byKey.values()]);
  return {
    resource,
    synced: Promise.resolve(),
    hasSynced: known !== undefined,
    stopped: Promise.resolve(),
    get size() {
      return cache.size;
    },
    get: (key) => cache.get(key),
    list: () => [...cache.values()],
    values: () => cache.values(),
    keys: () => cache.keys(),
    addIndex: (name, of) => cache.addIndex(name, of),
    byIndex: (name, value) => cache.byIndex(name, value),
    hasIndexed: (name, value) => cache.hasIndexed(name, value),
    on: (handlers) => cache.on(handlers),
  };
}
