import type { MetricsPage } from '../../apiserver/observer.ts';
import type { Store } from '../../storage/store.ts';
import { Profiles } from '../profiling/profiles.ts';
import type { Answer, Question } from '../profiling/types.ts';
import { type Clusters, clusterFamilies } from './clusters.ts';
import type { Family } from './family.ts';
import { Metrics } from './metrics.ts';
import { Scraper } from './scraper.ts';
import { storeFamilies } from './store.ts';

export interface Counting {
  metrics: Metrics;
  /** Who knows the other processes. */
  scraper: Scraper;
  page: MetricsPage;
  profiles: Profiles;
  profile: (question: Question) => Promise<Answer>;
}

/** What the first process counts, which has the store, and through it what all of them do. */
export function startCounting(
  store: Store,
  clusters: () => Clusters | undefined,
  more: readonly (() => Family[])[],
): Counting {
  const metrics = new Metrics();
  metrics.add(() => storeFamilies(store));
  metrics.add(() => {
    const known = clusters();
    return known ? clusterFamilies(known, Date.now()) : [];
  });
  for (const families of more) metrics.add(families);
  const scraper = new Scraper(metrics);
  const profiles = new Profiles();
  return {
    metrics,
    scraper,
    page: (accept, only) => scraper.page(accept, only),
    profiles,
    profile: (question) => profiles.take(question),
  };
}
