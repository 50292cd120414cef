import type { Store, StoreEvent } from '../../storage/store.ts';
import { keyRange } from '../registry/keys.ts';
import { everything, type Fed } from './index.ts';
import { clusterKey, clusterKind, tellCluster } from './physical-cluster.ts';
import { shareKind } from './respond.ts';
import type { Shares } from './shares.ts';
import type { Out, Source } from './watch.ts';

/** One for all: each would have a stack of its own, for as long as its watch is open. */
const hasRead = new Error('the index tells what follows');

/**
 * How the shares of a cluster change after `after`, the state that was loaded. History comes from the store; once
 * that has caught up with the index, only what the index finds to be the cluster's.
 */
export function followShares(
  store: Store,
  following: { index: Fed; cluster: string; state: Shares; after: number },
): Source {
  const { index, cluster, state, after } = following;
  let live = false;
  let caughtUp = false;
  let seen = after;
  return {
    after,
    kind: shareKind,
    synced: () => (live ? index.synced : caughtUp),
    reached: () => (live ? Math.max(index.revision, seen) : seen),
    async start(out, signal) {
      const reading = new AbortController();
      const leaves: (() => void)[] = [() => reading.abort(hasRead)];
      const leave = () => {
        for (const one of leaves) one();
      };
      signal.addEventListener('abort', leave, { once: true });
      const event = (event: StoreEvent, placement?: Parameters<Shares['feed']>[1]) => {
        if (event.entry.revision <= seen) return;
        seen = event.entry.revision;
        const work = state.feed(event, placement);
        if (work) out.add(seen, work);
      };
      // All that is visible was read here, and the index has told nothing of what comes after.
      const change = () => {
        if (live || !caughtUp || index.revision > seen || signal.aborted) return;
        live = true;
        leaves.push(index.subscribe(cluster, { event, onEnd: out.fail }));
        reading.abort(hasRead);
      };
      await store.watch(everything, {
        after,
        signal: reading.signal,
        pause: out.pause,
        onEnd: out.fail,
        sink: (events) => {
          if (live) return;
          for (const one of events) event(one);
          change();
        },
        onSynced: (yes) => {
          caughtUp = yes;
          change();
        },
      });
    },
  };
}

/** How the cluster's own PhysicalCluster changes. */
export function followCluster(store: Store, cluster: string, after: number): Source {
  let synced = false;
  let reached = after;
  return {
    after,
    kind: clusterKind,
    synced: () => synced,
    reached: () => reached,
    async start(out: Out, signal) {
      await store.watch(keyRange(clusterKey(cluster)), {
        after,
        signal,
        pause: out.pause,
        onEnd: out.fail,
        sink: (events) => {
          for (const event of events) {
            reached = event.entry.revision;
            out.add(reached, () => [tellCluster(event)]);
          }
        },
        onSynced: (yes) => {
          synced = yes;
        },
      });
    },
  };
}
