import { performance } from 'node:perf_hooks';
import type { Listening } from '../../apiserver/options.ts';
import type { Load } from './decide.ts';

/** Each call tells the load since the last one. */
export function gauge(listening: Listening): () => Load {
  let before = performance.eventLoopUtilization();
  let requestsBefore = listening.load().requests;
  return () => {
    const { utilization } = performance.eventLoopUtilization(before);
    const { requests, connections } = listening.load();
    const load = { busy: utilization, requests: requests - requestsBefore, connections };
    before = performance.eventLoopUtilization();
    requestsBefore = requests;
    return load;
  };
}
