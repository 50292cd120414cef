import { Client } from '../client/client.ts';
import type { ApiRequest, Transport } from '../kube/http.ts';
import { textAt } from '../kube/untyped.ts';
import { within } from '../kube/within.ts';

const answerMs = 5_000;
/** Whoever serves other kinds may count them otherwise. */
const native = '/api/v1/';
const ofWatch = [
  'watch',
  'resourceVersion',
  'resourceVersionMatch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
];

/**
 * Whether a cluster is again as it was before, as a backup that was restored makes it. A watch that goes on from a revision that is yet to
 * come tells nothing until then, and never what is gone: so what is known of it was, and is to be read anew. Asked of what was watched before,
 * once after each doubt, since nobody restores a cluster and keeps its connections.
 */
export class WentBack {
  readonly #client: Client;
  /** How many doubts there had been when it was asked last, by what is watched. */
  readonly #asked = new Map<string, number>();
  #doubts = 0;

  constructor(physical: Transport) {
    this.#client = new Client(physical, { userAgent: 'atoll-syncer' });
  }

  doubt(): void {
    this.#doubts += 1;
  }

  /** Of a watch: it would go on from a revision that is yet to come. False also where nobody says. */
  async isBefore({ url, signal }: ApiRequest, life: AbortSignal): Promise<boolean> {
    const { collection, revision } = watchedIn(url);
    const [doubts, known] = [this.#doubts, this.#asked.get(collection)];
    if (revision === undefined || !collection.startsWith(native) || known === doubts) return false;
    // What is watched for the first time was read just before.
    const now = known === undefined ? revision : await this.#now(collection, signal ?? life);
    if (now === undefined) return false;
    if (now >= revision) this.#asked.set(collection, doubts);
    return now < revision;
  }

  /** Undefined: it does not say; then the watch says why. */
  async #now(collection: string, signal: AbortSignal): Promise<number | undefined> {
    try {
      const list = await within(answerMs, signal, (soon) => this.#client.json(collection, { signal: soon }));
      return revisionOf(textAt(list, 'metadata', 'resourceVersion') ?? '');
    } catch {
      return undefined;
    }
  }
}

/** The list of one of what a watch is about, as it is now; and from where the watch goes on. */
export function watchedIn(url: string): { collection: string; revision: number | undefined } {
  const { pathname, searchParams } = new URL(url, 'http://cluster');
  const revision = revisionOf(searchParams.get('resourceVersion') ?? '');
  for (const name of ofWatch) searchParams.delete(name);
  searchParams.set('limit', '1');
  return { collection: `${pathname}?${searchParams}`, revision };
}

/** Undefined: it is no number that is counted on. */
function revisionOf(text: string): number | undefined {
  const revision = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(revision) ? revision : undefined;
}
