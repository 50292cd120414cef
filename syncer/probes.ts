import type { Client } from '../client/client.ts';
import { absenceOf, retryAfterMs } from '../client/errors.ts';
import { pathOf, type ResourceRef } from '../client/url.ts';
import { managedLabel, managedValue } from '../cluster/names.ts';
import { sleepUntil } from '../kube/clock.ts';
import { groupResource } from '../kube/gvk.ts';
import type { Logger } from '../kube/log.ts';
import { Slots } from '../kube/slots.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import type { Unreadable } from './unreadable.ts';

export const managedSelector = `${managedLabel}=${managedValue}`;

/** A cluster that joins is asked for every kind: over so many connections. */
const mostProbes = 3;

interface ProbesOptions {
  client: Client;
  signal: AbortSignal;
  logger: Logger;
  unreadable: Unreadable;
  /** The kind may not be read. */
  refused(kind: ResourceRef): void;
}

/** Asks of which kinds anything bears our label. */
export class Probes {
  readonly #options: ProbesOptions;
  readonly #slots = new Slots(mostProbes);

  constructor(options: ProbesOptions) {
    this.#options = options;
  }

  /** Fails with NotServed where the cluster does not serve the kind. */
  async has(kind: ResourceRef): Promise<boolean> {
    const { client, signal, unreadable, refused } = this.#options;
    const release = await this.#slots.take(signal);
    try {
      const found = await isAnyManaged(client, kind, signal);
      unreadable.note(kind);
      return found;
    } catch (error) {
      unreadable.note(kind, error);
      if (isStatusError(error, 'Forbidden')) refused(kind);
      throw unserved(error, kind);
    } finally {
      release();
    }
  }

  /** Keeps asking until the cluster answers: what is there must be known before anything is an orphan. */
  async hasInTheEnd(kind: ResourceRef): Promise<boolean> {
    const { signal, logger, unreadable } = this.#options;
    for (let wait = 500; ; wait = Math.min(wait * 2, 15_000)) {
      try {
        return await this.has(kind);
      } catch (err) {
        if (isStatusError(err, 'NotServed') || isStatusError(err, 'Forbidden')) return false;
        signal.throwIfAborted();
        logger.warn({ err, kind }, 'cannot read the physical cluster yet');
        await sleepUntil(unreadable.soon(kind, err), Math.max(wait, retryAfterMs(err)), signal);
      }
    }
  }
}

/** Whether anything of the kind bears our label. Fails where the answer is no list: somebody else answers in its place, as a proxy does. */
export async function isAnyManaged(client: Client, kind: ResourceRef, signal: AbortSignal): Promise<boolean> {
  const query = `?limit=1&labelSelector=${encodeURIComponent(managedSelector)}`;
  const list = (await client.json(pathOf(kind, {}) + query, { signal })) as { items?: unknown };
  if (list.items === null) return false;
  if (!Array.isArray(list.items)) throw new Error(`the answer is no list of ${groupResource(kind)}`);
  return list.items.length > 0;
}

/** The error, by its name where it says that the cluster does not serve the kind. */
export function unserved(error: unknown, kind: ResourceRef): unknown {
  if (absenceOf(error) !== 'notServed') return error;
  const message = `the cluster does not serve ${groupResource(kind)} in ${kind.version}`;
  return new StatusError(404, 'NotServed', message, undefined, error);
}
