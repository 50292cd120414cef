import type { OnDemandInformer } from '../client/on-demand.ts';
import type { ShareView } from '../cluster/types.ts';
import { sleep } from '../kube/clock.ts';
import { groupResource } from '../kube/gvk.ts';
import type { Engine } from './engine.ts';

/** What somebody puts there that bears our locator is looked for so often where its kind is not watched. */
const searchMs = 600_000;

/**
 * What is made there of a share of these, and of nothing else. Of a kind that is not here something may come wherever we have
 * a namespace.
 */
const makers: Readonly<Record<string, readonly string[]>> = {
  'replicasets.apps': ['deployments.apps'],
  'controllerrevisions.apps': ['statefulsets.apps', 'daemonsets.apps'],
  'jobs.batch': ['cronjobs.batch'],
  endpoints: ['services'],
  'endpointslices.discovery.k8s.io': ['services'],
};
/** Of a kind that the code does not know: it may make whatever workloads do. */
const byRule = 'by rule';

/** What shows a kind of what is there. */
export interface Tended {
  readonly informer: Pick<OnDemandInformer, 'isAwake' | 'wake' | 'rest' | 'synced'>;
  /** `replicasets.apps` */
  readonly resource: string;
  readonly firstRead: Promise<void>;
  readonly mayBeShown: boolean;
}

type Business = Pick<Engine, 'shares' | 'signal'> & {
  namespaces: Pick<Engine['namespaces'], 'informer' | 'own' | 'count'>;
  physical: Pick<Engine['physical'], 'rest' | 'search' | 'isAtRest'>;
};

/** How it began, and when it may end. */
export interface Course {
  /** Everything had been at rest until something came: nothing is known to be there but that. */
  isWoken: boolean;
  /** Nothing of what else works for the cluster is left to be done, or shown. */
  isIdle(): boolean;
  /** How long a watch goes on after the last of what it was for: what leaves is often followed by something. */
  restMs: number;
}

/**
 * A kind is watched there while something of it may be ours: its shares, or those that make it, are here; it is shown; or, of
 * what may come by itself, a namespace of ours is there. For a minute longer too. Nothing that is ours is outside our namespaces,
 * so a cluster that has none is asked for nothing. `found`: everything that was there from before is known. Resolves when there
 * is nothing left that any of this would be for, or the signal aborts.
 */
export async function runBusiness(
  engine: Business,
  tended: readonly Tended[],
  found: Promise<unknown>,
  course: Course,
): Promise<void> {
  const { shares, namespaces, signal } = engine;
  // What comes with a namespace need not be there as soon as that is.
  const search = { again: course.isWoken && mayBeHome(namespaces) };
  // It may fail while the others are waited for: who began it hears of that.
  found.catch(() => undefined);
  try {
    await Promise.all([shares.synced, namespaces.informer.synced]);
    if (course.isWoken) await fromRest(tended);
    begin(engine, tended, found, () => {
      search.again = true;
      void engine.physical.search();
    });
    await found;
    await Promise.all(tended.map(({ firstRead }) => firstRead));
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  await tend(engine, tended, search, course);
}

/** Of what was not there until now nobody waits for a list: that of what comes is no different. */
async function fromRest(tended: readonly Tended[]): Promise<void> {
  for (const { informer } of tended) informer.rest();
  await Promise.all(tended.map(({ informer }) => informer.synced));
}

function begin(
  { shares, namespaces }: Business,
  tended: readonly Tended[],
  found: Promise<unknown>,
  appeared: () => void,
): void {
  const isHome = mayBeHome(namespaces);
  const kinds = kindsOf(shares.values());
  for (const one of tended) {
    if (isWanted(one, kinds, isHome)) one.informer.wake();
    else if (!isHome) one.informer.rest();
    // Whoever made it may have gone before it.
    else
      void one.firstRead.then(() => one.informer.isAwake || one.informer[one.mayBeShown ? 'wake' : 'rest']());
  }
  shares.on({
    add({ spec }) {
      const kinds = spec ? kindsOf([{ spec }]) : new Set<string>();
      for (const one of tended) if (isMadeOf(one.resource, kinds)) one.informer.wake();
    },
  });
  let isBegun = false;
  namespaces.informer.on({
    add({ metadata: { name = '' } }) {
      if (!isBegun || !namespaces.own(name)) return;
      for (const one of tended) if (makers[one.resource] === undefined) one.informer.wake();
      // Nobody here has made it: somebody put it there, and maybe more with it.
      if (shares.hasIndexed('namespace', name)) return;
      found.then(appeared, () => undefined);
    },
  });
  isBegun = true;
}

/** Ends what is of no use any more, and looks for what nobody tells of. */
async function tend(
  { shares, namespaces, physical, signal }: Business,
  tended: readonly Tended[],
  search: { again: boolean },
  course: Course,
): Promise<void> {
  const { restMs, isIdle } = course;
  const idleSince = new Map<Tended, number>();
  let searched = performance.now();
  const isOver = () =>
    shares.size === 0 &&
    namespaces.informer.hasSynced &&
    namespaces.informer.size === 0 &&
    !search.again &&
    tended.every((one) => !one.informer.isAwake && !one.mayBeShown) &&
    physical.isAtRest &&
    isIdle();
  while (!signal.aborted && !isOver()) {
    await sleep(restMs / 2, signal);
    const [kinds, isHome, now] = [kindsOf(shares.values()), mayBeHome(namespaces), performance.now()];
    physical.rest(kinds, restMs);
    for (const one of tended) {
      if (isWanted(one, kinds, isHome)) one.informer.wake();
      const isIdle = one.informer.isAwake && !isWanted(one, kinds, isHome) && !(isHome && one.mayBeShown);
      if (!isIdle) idleSince.delete(one);
      else if (!idleSince.has(one)) idleSince.set(one, now);
      if (now - (idleSince.get(one) ?? now) >= restMs) one.informer.rest();
    }
    if (!search.again && (!isHome || now - searched < searchMs)) continue;
    search.again = false;
    searched = now;
    await physical.search();
  }
}

/** Not known is not none: nothing rests for want of what has not been heard. */
function mayBeHome(namespaces: Pick<Business['namespaces'], 'count'>): boolean {
  return namespaces.count() !== 0;
}

function isWanted({ resource }: Tended, kinds: ReadonlySet<string>, isHome: boolean): boolean {
  return isMadeOf(resource, kinds) || (isHome && makers[resource] === undefined);
}

/** Whether shares of these kinds make something of that resource. */
function isMadeOf(resource: string, kinds: ReadonlySet<string>): boolean {
  const from = makers[resource];
  return from === undefined ? kinds.size > 0 : kinds.has(byRule) || from.some((kind) => kinds.has(kind));
}

/** Which kinds something here is of, as `deployments.apps`. */
function kindsOf(shares: Iterable<Pick<ShareView, 'spec'>>): Set<string> {
  const found = new Set<string>();
  for (const { spec } of shares) {
    if (!spec) continue;
    found.add(groupResource(spec.ref));
    if (spec.ref.rule) found.add(byRule);
  }
  return found;
}
