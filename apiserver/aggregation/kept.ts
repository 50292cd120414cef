import type { ApiResponse, UserInfo } from '../../kube/http.ts';
import { Pieces } from '../../kube/pieces.ts';
import { Turns } from '../webhook/turns.ts';
import type { AggregatedService } from './api-service.ts';

const bounds = {
  /** Of what is kept of one logical cluster's, as it would be written. */
  ofCluster: 4 << 20,
  /** Of all, in this process. */
  ofAll: 32 << 20,
};
/** What is kept of one that has said nothing. */
const ofNothing = 1 << 10;
/** A longer one is not kept: what is kept of each counts as little. */
const longestEtag = 256;
/** An answer has its own time. */
const never = new AbortController().signal;
/** Whoever asks waits no longer for another server. */
const waitMs = 2_000;

/** What is asked of other API servers, and kept of each. */
export interface Question<T> {
  name: string;
  path(service: AggregatedService): string;
  user(cluster: string): UserInfo;
  /** A longer answer is not read. */
  mostBytes: number;
  /** Of one logical cluster's servers one answer is read at a time. */
  inTurn?: boolean;
  /** As long as what was said counts as it is. */
  freshMs: number;
  /** After no answer it is not asked again so soon. */
  retryMs: number;
  /** Whoever serves nothing at that path has said so: 404 is an answer. */
  mayBeAbsent?: boolean;
  /** What an answer says, and how many bytes are kept of it. Undefined, or rejected: it cannot be taken. */
  read(answer: Uint8Array, service: AggregatedService, cluster: string): Taken<T> | Promise<Taken<T>>;
}

export type Taken<T> = { value: T; bytes: number } | undefined;

/** What one said last. */
export interface Said<T> {
  value: T | undefined;
  /** And says still. */
  isFresh: boolean;
}

interface Known {
  service: string;
  /** By what the APIService says; one that changes is asked anew. */
  edition: string;
  /** From when on it is asked again, by performance.now(). */
  askAt: number;
  /** Whether what it said last could be taken. */
  isTaken: boolean;
  etag: string | undefined;
  bytes: number;
  value: unknown;
  asking: Promise<void> | undefined;
}

interface OfCluster {
  bytes: number;
  known: Map<string, Known>;
}

type Ask = (
  cluster: string,
  service: AggregatedService,
  question: { path: string; user: UserInfo; etag: string | undefined },
) => Promise<ApiResponse>;

/** What other API servers said last: asked when somebody wants to know, seldom, and by nobody else's time. */
export class KeptAnswers {
  readonly #ask: Ask;
  readonly #bounds: typeof bounds;
  /** By logical cluster, the one that was asked about longest ago first. */
  readonly #clusters = new Map<string, OfCluster>();
  readonly #turns = new Turns(1);
  #bytes = 0;

  constructor(ask: Ask, most = bounds) {
    this.#ask = ask;
    this.#bounds = most;
  }

  /** What is kept in this process, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** No others are there: what the rest said is forgotten. */
  retain(cluster: string, services: readonly AggregatedService[]): void {
    const of = this.#clusters.get(cluster);
    if (of === undefined) return;
    const editions = new Map(services.map(({ name, edition }) => [name, edition]));
    for (const [key, { service, edition }] of of.known) {
      if (editions.get(service) !== edition) this.#forget(of, key);
    }
    if (of.known.size === 0) this.#clusters.delete(cluster);
  }

  /** What it said last, where it does not answer now. */
  async of<T>(cluster: string, service: AggregatedService, question: Question<T>): Promise<Said<T>> {
    const known = this.#knownOf(cluster, service, question.name);
    const isDue = () => performance.now() >= known.askAt;
    if (service.available && isDue()) await this.#renewed(cluster, service, known, question);
    const isFresh = service.available && known.isTaken && !isDue();
    return { value: known.value as T | undefined, isFresh };
  }

  #knownOf(cluster: string, { name, edition }: AggregatedService, question: string): Known {
    const of = this.#clusters.get(cluster) ?? { bytes: 0, known: new Map<string, Known>() };
    this.#clusters.delete(cluster);
    this.#clusters.set(cluster, of);
    const key = `${question} ${name}`;
    const there = of.known.get(key);
    if (there?.edition === edition) return there;
    this.#forget(of, key);
    const known: Known = {
      service: name,
      edition,
      askAt: Number.NEGATIVE_INFINITY,
      isTaken: false,
      etag: undefined,
      bytes: ofNothing,
      value: undefined,
      asking: undefined,
    };
    of.known.set(key, known);
    this.#count(of, ofNothing);
    this.#makeRoom(cluster);
    return known;
  }

  async #renewed<T>(
    cluster: string,
    service: AggregatedService,
    known: Known,
    question: Question<T>,
  ): Promise<void> {
    known.asking ??= this.#read(cluster, service, known, question)
      .catch(() => {
        known.askAt = performance.now() + question.retryMs;
      })
      .finally(() => {
        known.asking = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([known.asking, late]);
    clearTimeout(timer);
  }

  async #read<T>(
    cluster: string,
    service: AggregatedService,
    known: Known,
    question: Question<T>,
  ): Promise<void> {
    const asked = { path: question.path(service), user: question.user(cluster), etag: known.etag };
    const { status, headers, body } = await this.#ask(cluster, service, asked);
    const take = () => this.#readAnswer(cluster, service, known, question, { status, headers, body });
    await (question.inTurn ? this.#turns.run(cluster, never, take) : take());
  }

  async #readAnswer<T>(
    cluster: string,
    service: AggregatedService,
    known: Known,
    question: Question<T>,
    { status, headers, body }: ApiResponse,
  ): Promise<void> {
    const { freshMs } = question;
    const answer = await readUpTo(question.mostBytes, body);
    if (status === 304 && known.etag !== undefined) {
      known.askAt = performance.now() + freshMs;
      return;
    }
    const isAbsent = status === 404 && question.mayBeAbsent;
    if (status !== 200 && !isAbsent) throw new Error(`bad status: ${status}`);
    const read = async () => answer && (await question.read(answer, service, cluster));
    const taken = isAbsent ? { value: undefined, bytes: 0 } : await read().catch(() => undefined);
    const of = this.#clusters.get(cluster);
    if (of?.known.get(`${question.name} ${service.name}`) !== known) return;
    known.askAt = performance.now() + freshMs;
    this.#take(cluster, of, known, taken);
    const etag = headers['etag'];
    const isKept = known.isTaken && typeof etag === 'string' && etag.length <= longestEtag;
    known.etag = isKept ? etag : undefined;
  }

  /** What is too much, or cannot be read, is not asked for again so soon either. */
  #take(cluster: string, of: OfCluster, known: Known, taken: Taken<unknown>): void {
    const bytes = ofNothing + (taken?.bytes ?? 0);
    const hasRoom = of.bytes - known.bytes + bytes <= this.#bounds.ofCluster;
    known.isTaken = taken !== undefined && hasRoom;
    if (!taken || !hasRoom) return;
    this.#count(of, bytes - known.bytes);
    Object.assign(known, { bytes, value: taken.value });
    this.#makeRoom(cluster);
  }

  #makeRoom(besides: string): void {
    for (const [cluster, of] of this.#clusters) {
      if (this.#bytes <= this.#bounds.ofAll) return;
      if (cluster === besides) continue;
      this.#bytes -= of.bytes;
      this.#clusters.delete(cluster);
    }
  }

  #count(of: OfCluster, bytes: number): void {
    of.bytes += bytes;
    this.#bytes += bytes;
  }

  #forget(of: OfCluster, key: string): void {
    const known = of.known.get(key);
    if (known && of.known.delete(key)) this.#count(of, -known.bytes);
  }
}

/** Undefined: it is longer, and is not read to the end. */
async function readUpTo(most: number, body: ApiResponse['body']): Promise<Uint8Array | undefined> {
  const pieces = new Pieces();
  for await (const piece of body instanceof Uint8Array ? [body] : body) {
    pieces.add(piece);
    if (pieces.length > most) return undefined;
  }
  return pieces.whole();
}
