import type { Client } from '../client/client.ts';
import type { ResourceRef } from '../client/url.ts';
import { type Clock, sleep, systemClock } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/ */
export type Lease = KubeObject<LeaseSpec>;

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

export interface LeaderOptions {
  client: Client;
  lease: { cluster?: string; namespace: string; name: string };
  /** Unique among all processes, also among starts of the same one. */
  identity: string;
  /**
   * Called for each term; `signal` aborts when the term ends, `token` is higher in each later term of anybody.
   * A lease is no lock: a leader that was paused may write after its successor, so writes that must not happen
   * twice carry the token, and the receiver refuses a lower one.
   */
  lead(signal: AbortSignal, token: number): Promise<void>;
  signal: AbortSignal;
  logger: Logger;
  clock?: Clock;
  /** Others take over after so long without a renewal. Default 15 000. */
  durationMs?: number;
  /** The leader gives up after so long without one: less than durationMs. Default 10 000. */
  renewMs?: number;
  /** Between tries. Default 2 000. */
  retryMs?: number;
}

/** When we last saw the lease change, by our own clock: the holder's may be wrong. */
export interface Observation {
  version: string;
  at: number;
}

const leases: ResourceRef = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

/** May `identity` write itself into the lease? */
export function mayHold(
  spec: LeaseSpec | undefined,
  identity: string,
  observed: Observation,
  now: number,
): boolean {
  if (!spec?.holderIdentity || spec.holderIdentity === identity) return true;
  return now - observed.at > (spec.leaseDurationSeconds ?? 15) * 1000;
}

/** Leads whenever it can, until `signal` aborts; then gives the lease back and resolves. Fails when `lead` does. */
export async function runLeader(options: LeaderOptions): Promise<void> {
  const { signal, clock = systemClock, logger, retryMs = 2_000 } = options;
  const claim = claimer(options, clock);
  while (!signal.aborted) {
    const token = await claim(signal);
    if (token === undefined) {
      await sleep(retryMs, signal, clock);
      continue;
    }
    logger.info({ lease: options.lease, identity: options.identity, token }, 'leading');
    await term(options, clock, token, claim);
    logger.info({ lease: options.lease, identity: options.identity, token }, 'no longer leading');
  }
}

type Claim = (signal: AbortSignal) => Promise<number | undefined>;

async function term(options: LeaderOptions, clock: Clock, token: number, claim: Claim): Promise<void> {
  const { signal, renewMs = 10_000, retryMs = 2_000 } = options;
  const end = new AbortController();
  const stop = () => end.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  // Runs by itself, so that a renewal that hangs cannot prolong the term.
  let cancel = clock.after(renewMs, () => end.abort());
  const work = options.lead(end.signal, token).finally(() => end.abort());
  try {
    while (!end.signal.aborted) {
      await sleep(retryMs, end.signal, clock);
      if (end.signal.aborted) break;
      const started = clock.now();
      const renewed = await claim(end.signal);
      if (renewed === undefined) continue;
      // Somebody led in between.
      if (renewed !== token) break;
      cancel();
      cancel = clock.after(renewMs - (clock.now() - started), () => end.abort());
    }
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
    end.abort();
    await work.finally(() => release(options, token));
  }
}

/** Answers the token of the term we hold, or undefined where we hold none. */
function claimer(options: LeaderOptions, clock: Clock): Claim {
  const { client, lease, identity, logger, durationMs = 15_000 } = options;
  let observed: Observation = { version: '', at: clock.now() };
  return async (signal) => {
    try {
      const live = await readOrMake(client, lease, signal);
      const version = live.metadata.resourceVersion ?? '';
      if (version !== observed.version) observed = { version, at: clock.now() };
      if (!mayHold(live.spec, identity, observed, clock.now())) return undefined;
      const now = new Date(clock.now()).toISOString().replace('Z', '000Z');
      const mine = live.spec?.holderIdentity === identity;
      const token = (live.spec?.leaseTransitions ?? 0) + (mine ? 0 : 1);
      const spec: LeaseSpec = {
        ...live.spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(durationMs / 1000),
        leaseTransitions: token,
        renewTime: now,
        ...(!mine && { acquireTime: now }),
      };
      // The version we read guards it: of two that claim at once, one gets a Conflict.
      await client.update(leases, { ...live, spec }, { cluster: lease.cluster, signal });
      return token;
    } catch (err) {
      if (!signal.aborted && !isStatusError(err, 'Conflict'))
        logger.warn({ err, lease }, 'lease not reached');
      return undefined;
    }
  };
}

async function readOrMake(client: Client, at: LeaderOptions['lease'], signal: AbortSignal): Promise<Lease> {
  try {
    return await client.get<Lease>(leases, at, signal);
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    const { cluster, namespace, name } = at;
    const fresh = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name },
      spec: {},
    };
    return await client.create<Lease>(leases, fresh, { cluster, signal });
  }
}

/** So that the next leader need not wait; if it fails, it waits. */
async function release(options: LeaderOptions, token: number): Promise<void> {
  const { client, lease, identity, logger } = options;
  const signal = AbortSignal.timeout(2_000);
  try {
    const live = await client.get<Lease>(leases, lease, signal);
    if (live.spec?.holderIdentity !== identity || live.spec.leaseTransitions !== token) return;
    const spec = { ...live.spec, holderIdentity: '' };
    await client.update(leases, { ...live, spec }, { cluster: lease.cluster, signal });
  } catch (err) {
    logger.debug({ err, lease }, 'lease not given back');
  }
}
