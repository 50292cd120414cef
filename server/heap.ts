import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const MIB = 1 << 20;
/** Two whole searches within this time: so much garbage is made that to look for it often costs more than to keep it. */
const BUSY_MS = 4000;
const BUSY_MOST = 160 * MIB;
const BUSY_PERCENT = 400;

/**
 * How much garbage may gather before the heap is searched for it: as much as was alive the last time, where V8
 * would allow up to four. A server's objects live long, and what is not used by it is somebody else's memory.
 */
export function boundGarbage(): void {
  allow(100);
}

/**
 * From now on, while searches follow each other, 160 MiB even where less is alive: a tenth of a busy server's time
 * went into them, and they are what the slowest requests waited for. V8 gives the memory back once there is less to do.
 */
export function gatherWhileBusy(): void {
  let last = Number.NEGATIVE_INFINITY;
  new PerformanceObserver((list) => {
    for (const search of list.getEntries() as (PerformanceEntry & { detail: NodeGCPerformanceDetail })[]) {
      if (search.detail.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue;
      allow(search.startTime - last < BUSY_MS ? whileBusy(getHeapStatistics().used_heap_size) : 100);
      last = search.startTime;
    }
  }).observe({ entryTypes: ['gc'] });
}

/** In percent of the `alive` bytes. */
export function whileBusy(alive: number): number {
  return Math.round(Math.min(BUSY_PERCENT, Math.max(100, (100 * BUSY_MOST) / alive)));
}

/** Counts from the next search on. */
function allow(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/**
 * How the process of the controllers is started, by one that was `given` these. What is young there has 4 MiB: V8 begins with one, and goes
 * back to that while little happens, so that the questions to clusters that rest had it collected every two seconds, each time with what is
 * just under way; with 16 what is young is in no cache any more. What was given counts before that.
 */
export function controlArgs(given: readonly string[]): string[] {
  return ['--min-semi-space-size=4', ...given, '--v8-pool-size=1'];
}
