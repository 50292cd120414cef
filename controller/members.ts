import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '../client/client.ts';
import { startInformer } from '../client/informer.ts';
import { isServerName, serverLabel } from '../cluster/names.ts';
import { sleep } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { textAt } from '../kube/untyped.ts';
import { within } from '../kube/within.ts';
import { Heard, Hearing } from './heard.ts';
import { evenly, preferred } from './rendezvous.ts';

const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } as const;
const namespace = 'kube-system';
const labels = { [serverLabel]: 'true' };

export interface MembersOptions {
  /** May read and write Leases in root's kube-system. */
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  /** How often it says that it is there; it counts as gone after four times as long. Default 2 500. */
  renewMs?: number;
}

/** The servers on one store that are there now. */
export interface Members {
  readonly id: string;
  /** Whether what bears this name is this server's to do; as one of `few`, those are shared out evenly. */
  isMine(name: string, few?: readonly string[]): boolean;
  /** Resolves once the Lease is given back, after the signal aborted. */
  readonly stopped: Promise<void>;
}

/**
 * Says by a Lease that this server is there, as kube-apiserver does, and hears who else is.
 * https://kubernetes.io/docs/concepts/architecture/leases/#api-server-identity
 * Nobody else may write such a Lease (apiserver/admission/servers.ts). Nothing is safe because of it: only who asks for a lease of the store is decided so, not who has it.
 */
export function startMembers({ client, signal, logger, renewMs = 2_500 }: MembersOptions): Members {
  const id = `atoll-${randomUUID()}`;
  const hearing = new Hearing(2 * renewMs);
  const heard = new Heard({ lostMs: 4 * renewMs, settleMs: 4 * renewMs, now: hearing.now });
  const informer = startInformer(client, leases, {
    namespace,
    labelSelector: serverLabel,
    signal,
    logger,
  });
  const say = ({ metadata, spec }: KubeObject) => {
    if (metadata.name === id) hearing.heardSelf();
    const renewed = Date.parse(textAt(spec, 'renewTime') ?? '') || 0;
    heard.say(metadata.name ?? '', renewed, informer.hasSynced ? 0 : Math.max(0, Date.now() - renewed));
  };
  informer.on({ add: say, update: say, delete: ({ metadata }) => heard.forget(metadata.name ?? '') });
  const parts = { client, id, heard, logger, renewMs };
  const there = () => [id, ...heard.there().filter((other) => other !== id)];
  return {
    id,
    isMine: (name, few) => (few ? evenly(few, there()).get(name) : preferred(name, there())) === id,
    stopped: renew(parts, signal),
  };
}

interface Parts {
  client: Client;
  id: string;
  heard: Heard;
  logger: Logger;
  renewMs: number;
}

async function renew(parts: Parts, signal: AbortSignal): Promise<void> {
  const { client, id, logger, renewMs } = parts;
  let told = '';
  while (!signal.aborted) {
    told = tell(parts, told);
    await within(renewMs, signal, (until) => sayHere(parts, until)).catch((err: unknown) => {
      if (!signal.aborted) logger.warn({ err, server: id }, 'the other servers cannot be told of this one');
    });
    await sleep(renewMs, signal);
  }
  // Where that fails it counts as gone a little later.
  await within(renewMs, undefined, (until) =>
    client.delete(leases, { namespace, name: id }, {}, until),
  ).catch(() => undefined);
}

/** Logs who shares the physical clusters now, if that is not what was `told`. */
function tell({ id, heard, logger }: Parts, told: string): string {
  const others = heard.there().filter((other) => other !== id);
  const now = `${others.sort()}`;
  if (now !== told)
    logger.info(
      { server: id, count: others.length, others: others.slice(0, 20) },
      'the other servers changed',
    );
  return now;
}

/** Renews its own Lease, and takes away those of servers that have been gone for long: each start has another name. */
async function sayHere({ client, id, heard, renewMs }: Parts, signal: AbortSignal): Promise<void> {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const spec = {
    holderIdentity: hostname(),
    leaseDurationSeconds: Math.ceil((4 * renewMs) / 1000),
    renewTime,
  };
  try {
    // With the label: without it the others see nothing of it.
    await client.patch(leases, { namespace, name: id }, 'merge', { metadata: { labels }, spec }, { signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    const metadata = { name: id, namespace, labels };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    await client.create(leases, body, { namespace, signal });
  }
  // A label is easily copied: what no server is called is not ours to delete.
  for (const name of heard.gone(60 * renewMs).filter(isServerName))
    await client.delete(leases, { namespace, name }, {}, signal).catch(() => undefined);
}
