/** Told what a queue does: it counts, and neither waits nor throws. */
export interface QueueObserver {
  /** A key waits that did not. */
  added(key: string): void;
  taken(key: string): void;
  done(key: string): void;
  /** It will be added again after a failure. */
  retried(): void;
}

/** Of a queue that lives from now on. */
export interface ObservedQueue {
  readonly length: number;
}

/** Gives the observer of a queue by the name of its controller, and what ends it. */
export type ObserveQueue = (
  name: string,
  queue: ObservedQueue,
) => { observer: QueueObserver; ended(): void } | undefined;

let observe: ObserveQueue = () => undefined;

/** For all controllers of the process that start from now on, as there is one registry of what a process counts. */
export function observeQueues(by: ObserveQueue): void {
  observe = by;
}

export const observed: ObserveQueue = (name, queue) => observe(name, queue);
