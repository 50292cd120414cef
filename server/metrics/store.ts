import { collectionRange } from '../../apiserver/registry/keys.ts';
import { ownResources } from '../../cluster/resources.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import type { Range, Store } from '../../storage/store.ts';
import { borrowed, own } from './definitions.ts';
import { type Family, figures } from './family.ts';
import { other } from './kinds.ts';

/** Objects are between these, what is the server's own is not. */
const objects: Range = { start: '/0', end: '/\x7f' };

/** What the store of this process says of itself. */
export async function storeFamilies(store: Store): Promise<Family[]> {
  const measures = await store.measure?.().catch(() => undefined);
  const families = [
    figures(own.revision, [[[], store.revision]]),
    figures(own.refusing, [[[], store.refusing === undefined ? 0 : 1]]),
    ...objectFamilies(store),
  ];
  if (measures === undefined) return families;
  const { watchers, pending, commits, bytes } = measures;
  const { counts, sum } = commits;
  return [
    ...families,
    figures(borrowed.bytes, bytes === undefined ? [] : [[['store'], bytes]]),
    figures(own.etcdBytes, bytes === undefined ? [] : [[['store'], bytes]]),
    figures(own.pending, [[[], pending]]),
    { definition: own.commits, figures: [], spreads: [{ labels: [], counts, sum }] },
    figures(own.watchers, [
      [['live'], watchers.live],
      [['behind'], watchers.behind],
    ]),
  ];
}

/** How many of each built-in kind there are in all logical clusters; what users defined is one. */
function objectFamilies(store: Store): Family[] {
  const counts = stored.map(({ info, range }) => ({ info, count: countOf(store, range) }));
  const all = countOf(store, objects);
  const rest = all < 0 ? -1 : counts.reduce((left, { count }) => left - Math.max(0, count), all);
  return [
    figures(borrowed.objects, [
      ...counts.map(({ info, count }) => [[info.group, info.resource], count] as const),
      [[other, other], rest],
    ]),
    figures(borrowed.objectsOfBefore, [
      ...counts.map(({ info, count }) => [[nameOf(info)], count] as const),
      [[other], rest],
    ]),
  ];
}

/** -1: it cannot be told, as kube-apiserver says it. */
function countOf(store: Store, range: Range): number {
  try {
    return store.count?.(range) ?? -1;
  } catch {
    return -1;
  }
}

function nameOf({ group, resource }: ResourceInfo): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Kinds of which objects are stored, each once, whatever groups and versions serve it. */
const stored = storedKinds();

function storedKinds(): { info: ResourceInfo; range: Range }[] {
  const byStart = new Map<string, { info: ResourceInfo; range: Range }>();
  for (const info of [...builtinResources, ...ownResources.map((resource) => resource.info)]) {
    if (!info.verbs.includes('list')) continue;
    const range = collectionRange(info, '*', '');
    if (!byStart.has(range.start)) byStart.set(range.start, { info, range });
  }
  return [...byStart.values()];
}
