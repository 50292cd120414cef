import type { Bounds } from '../../cluster/limits.ts';

/** What is left of a logical cluster's requests, at a time in ms. */
export interface Bucket {
  tokens: number;
  at: number;
  /** Taken in the second before this one, and in this one so far. */
  before: number;
  now: number;
  second: number;
}

export function fullBucket(bounds: Bounds, at: number): Bucket {
  return { tokens: burstOf(bounds), at, before: 0, now: 0, second: Math.floor(at / 1000) };
}

/** How many may come at once: what a burst is, or two seconds' worth. */
function burstOf({ requestsPerSecond = 0, requestBurst }: Bounds): number {
  return requestBurst ?? 2 * requestsPerSecond;
}

/** How many there are to take now. */
export function refill(bucket: Bucket, bounds: Bounds, at: number): number {
  const seconds = Math.max(0, at - bucket.at) / 1000;
  bucket.tokens = Math.min(burstOf(bounds), bucket.tokens + seconds * (bounds.requestsPerSecond ?? 0));
  bucket.at = at;
  return Math.floor(bucket.tokens);
}

export function take(bucket: Bucket, count: number, at: number): void {
  bucket.tokens -= count;
  roll(bucket, at);
  bucket.now += count;
}

/** Taken in the last whole second. */
export function rateOf(bucket: Bucket, at: number): number {
  roll(bucket, at);
  return bucket.before;
}

/** Until there is one to take, in whole seconds, as Retry-After has it. */
export function waitOf(bucket: Bucket, { requestsPerSecond = 0 }: Bounds): number {
  const missing = Math.max(0, 1 - bucket.tokens);
  return requestsPerSecond > 0 ? Math.max(1, Math.ceil(missing / requestsPerSecond)) : 1;
}

function roll(bucket: Bucket, at: number): void {
  const second = Math.floor(at / 1000);
  if (second === bucket.second) return;
  bucket.before = second === bucket.second + 1 ? bucket.now : 0;
  bucket.now = 0;
  bucket.second = second;
}
