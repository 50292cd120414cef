import { createHash } from 'node:crypto';
import type { Client } from '../client/client.ts';
import { type Clock, systemClock } from '../kube/clock.ts';
import { formatApiVersion } from '../kube/gvk.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { timestamp } from '../kube/timestamp.ts';

/** The object that something is said of, in its logical cluster; without one: of plain Kubernetes. */
export interface About {
  cluster?: string;
  group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  /** Of one part of it. */
  fieldPath?: string;
}

/** What `kubectl describe` shows under Events. */
export interface Word {
  type: 'Normal' | 'Warning';
  /** In one word. */
  reason: string;
  message: string;
}

export interface RecorderOptions {
  client: Client;
  /** Who says it. */
  component: string;
  /** The node that it runs on. */
  host?: string;
  signal: AbortSignal;
  logger: Logger;
  clock?: Clock;
  /** While it is, there is more to do than to say; default: never. */
  rush?: { readonly isOn: boolean };
}

interface Party {
  readonly waiting: { about: About; word: Word }[];
  underWay: number;
}

const events = { group: '', version: 'v1', resource: 'events' } as const;
const maxMessage = 1024;
/** What is not yet written is not worth more memory than this; a logical cluster leaves as much as it has, its webhooks may hang. */
const mostWaiting = 4096;
/** So many of one are written at a time: what they tell of goes before them. */
const width = 8;
/** What is said goes out a little later: who says it has more to do just then, and so have those who go on from there. */
const waitMs = 500;
/** Of what is said in a rush: no longer, nor more of it, as what is too much is lost. */
const mostTimes = 20;
const mostHeld = mostWaiting / 4;

/**
 * Says things as Events of users' own objects. Said again, one Event counts, as Kubernetes' recorder has it: its name
 * is that of what is said, so that a restart finds it, too. Nobody waits for an Event, and nothing fails for one.
 */
export class EventRecorder {
  readonly #options: RecorderOptions;
  /** By logical cluster, until all of it is written. */
  readonly #parties = new Map<string | undefined, Party>();
  #waiting = 0;
  #isDue = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  say(about: About, words: readonly Word[]): void {
    const { signal } = this.#options;
    if (words.length === 0 || signal.aborted) return;
    const party = this.#parties.get(about.cluster) ?? { waiting: [], underWay: 0 };
    this.#parties.set(about.cluster, party);
    for (const word of words) {
      const others = mostWaiting - this.#waiting;
      if (party.waiting.length > 0 && party.waiting.length >= others) break;
      party.waiting.push({ about, word: { ...word, message: word.message.slice(0, maxMessage) } });
      this.#waiting++;
    }
    if (this.#isDue) return;
    this.#isDue = true;
    this.#later(mostTimes);
  }

  #later(times: number): void {
    const { clock = systemClock, rush } = this.#options;
    clock.after(waitMs, () => {
      if (rush?.isOn && times > 1 && this.#waiting < mostHeld) return this.#later(times - 1);
      this.#isDue = false;
      for (const [cluster, one] of this.#parties) this.#begin(cluster, one);
    });
  }

  #begin(cluster: string | undefined, party: Party): void {
    const { signal, logger } = this.#options;
    while (party.underWay < width && !signal.aborted) {
      const next = party.waiting.shift();
      if (next === undefined) break;
      this.#waiting--;
      party.underWay++;
      this.#write(next.about, next.word)
        .catch((err: unknown) => {
          if (!signal.aborted) logger.debug({ err, reason: next.word.reason }, 'an event was not written');
        })
        .finally(() => {
          party.underWay--;
          this.#begin(cluster, party);
        });
    }
    if (party.underWay === 0 && party.waiting.length === 0) this.#parties.delete(cluster);
  }

  async #write(about: About, word: Word): Promise<void> {
    const { client, signal } = this.#options;
    const { cluster } = about;
    const event = this.#event(about, word);
    const { namespace } = event.metadata;
    try {
      await client.createUnread(events, event, { cluster, signal });
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
      const target = { cluster, namespace, name: event.metadata.name ?? '' };
      const known = await client.get(events, target, signal);
      const count = (typeof known['count'] === 'number' ? known['count'] : 1) + 1;
      const { resourceVersion } = known.metadata;
      const body = {
        count,
        lastTimestamp: event['lastTimestamp'],
        metadata: { ...(resourceVersion && { resourceVersion }) },
      };
      await client.patch(events, target, 'merge', body, { signal });
    }
  }

  #event(about: About, { type, reason, message }: Word): KubeObject {
    const { component, host = '', clock = systemClock } = this.#options;
    const { group, version, kind, namespace, name, uid, fieldPath } = about;
    const part = fieldPath ? { fieldPath } : {};
    const said = message.slice(0, maxMessage);
    const digest = createHash('sha256')
      .update(JSON.stringify([uid, component, reason, said, ...Object.values(part)]))
      .digest('hex');
    const now = timestamp(clock.now());
    return {
      apiVersion: 'v1',
      kind: 'Event',
      // What is said of an object that is in no namespace is said in this one.
      metadata: { name: `${name.slice(0, 236)}.${digest.slice(0, 16)}`, namespace: namespace || 'default' },
      involvedObject: {
        apiVersion: formatApiVersion({ group, version }),
        kind,
        namespace,
        name,
        uid,
        ...part,
      },
      type,
      reason,
      message: said,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component, ...(host && { host }) },
      reportingComponent: component,
      reportingInstance: host,
    };
  }
}
