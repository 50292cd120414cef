import { isFinished } from '../cluster/kinds.ts';
import { silenceOf } from '../cluster/silence.ts';
import { eachCluster, shownKey, topologyOf } from '../cluster/spread.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { inOrder } from './lead.ts';
import type { Subject } from './subjects.ts';
import type { Term } from './wishes.ts';

/** What is asked for by the same words, whoever asks, and by the value of its topology key how many have or ask it. */
interface Tally {
  number: number;
  term: Term;
  /** Those that it is true of: where they are, or are to be. */
  there: Map<string, number>;
  /** The same of those that are decided. */
  decided: Map<string, number>;
  /** Of how many that are not decided yet it is true. */
  ahead: number;
  /** Those that are to be apart from these: where they are, or are to be. */
  apart: Map<string, number>;
  /** Who says of one of those that it is to be. */
  by: string;
}

interface Asked {
  tally: Tally;
  source: string;
}

interface Own {
  beside: Asked[];
  apart: Asked[];
  is: Set<Tally>;
  /** Not all that is said of it is looked at. */
  isCut: boolean;
}

/** Different ones in a Namespace: each is looked at for each of its workloads. */
export const mostTerms = 100;

/** Whom a workload is to be beside or apart from, while the workloads of a Namespace are decided one after the other. */
export class Company {
  readonly #clusters: ReadonlyMap<string, PhysicalCluster>;
  readonly #tallies = new Map<string, Tally>();
  readonly #own = new Map<Subject, Own>();
  /** In which they are to be decided. */
  readonly order: readonly Subject[];

  constructor(subjects: readonly Subject[], clusters: ReadonlyMap<string, PhysicalCluster>) {
    this.#clusters = clusters;
    for (const subject of subjects) this.#own.set(subject, this.#read(subject));
    if (this.#tallies.size === 0) {
      this.order = subjects;
      return;
    }
    for (const [subject, own] of this.#own) {
      const { labels } = subject.placed.object.metadata;
      // What has ended is no company.
      if (isFinished(subject.placed.object)) continue;
      for (const tally of this.#tallies.values()) if (tally.term.labels.matches(labels)) own.is.add(tally);
      for (const tally of own.is) tally.ahead += 1;
      this.#count(own, subject.current, 1);
    }
    this.order = inOrder(subjects, (subject) => this.#tieOf(subject), leads);
  }

  /** Anybody of them is to be beside somebody, or apart. */
  get isAsked(): boolean {
    return this.#tallies.size > 0;
  }

  /** A change of any cluster's labels may be one for it. */
  concerns(subject: Subject): boolean {
    const { beside = [], apart = [] } = this.#own.get(subject) ?? {};
    return beside.length + apart.length > 0;
  }

  /** It, or another one for its sake, is to be beside somebody, or apart. */
  isOf(subject: Subject): boolean {
    const own = this.#own.get(subject);
    return own !== undefined && (this.concerns(subject) || own.isCut || own.is.size > 0);
  }

  /** It is decided about: until it is settled it counts nowhere. */
  leave(subject: Subject): void {
    const own = this.#own.get(subject);
    if (!own) return;
    for (const tally of own.is) tally.ahead -= 1;
    this.#count(own, subject.current, -1);
  }

  settle(subject: Subject, clusters: readonly string[]): void {
    const own = this.#own.get(subject);
    if (!own) return;
    this.#count(own, clusters, 1);
    for (const { term, decided } of own.is) this.#add(decided, term, clusters, 1);
  }

  /** Why another workload speaks against a cluster, as a sentence; undefined: none does. */
  refusal(subject: Subject, name: string): string | undefined {
    if (this.#tallies.size === 0) return undefined;
    const [own, cluster] = [this.#own.get(subject), this.#clusters.get(name)];
    if (!own || !cluster) return undefined;
    const isThere = subject.current.includes(name);
    // Silence moves only what asks for it, and what runs there cannot be stopped.
    if (isThere && silenceOf(cluster)) return undefined;
    if (own.isCut)
      return `the policies of its Namespace speak of more than ${mostTerms} different kinds of company`;
    for (const asked of own.beside) {
      const why = notBeside(asked, own, cluster);
      if (why !== undefined) return why;
    }
    for (const { tally, source } of own.apart)
      if (has(tally.there, tally, cluster))
        return `${source} keeps it apart from ${tally.term.shown}, which is ${where(tally)}`;
    // Who is there already stays, it is the other one that has to go; and a user's own word counts before any policy.
    if (isThere || isNamed(subject, name)) return undefined;
    for (const tally of own.is)
      if (has(tally.apart, tally, cluster))
        return `${tally.by} keeps what is ${where(tally)} apart from ${tally.term.shown}`;
    return undefined;
  }

  #read({ wish }: Subject): Own {
    const own: Own = { beside: [], apart: [], is: new Set(), isCut: false };
    for (const { source, affinity = [], antiAffinity = [] } of wish?.layers ?? [])
      for (const [terms, into] of [[affinity, own.beside] as const, [antiAffinity, own.apart] as const])
        for (const term of terms) {
          const tally = this.#tallyOf(term);
          if (tally) into.push({ tally, source });
          else own.isCut = true;
        }
    for (const { tally, source } of own.apart) tally.by ||= source;
    return own;
  }

  #tallyOf(term: Term): Tally | undefined {
    const found = this.#tallies.get(term.key);
    if (found || this.#tallies.size >= mostTerms) return found;
    const maps = { there: new Map(), decided: new Map(), apart: new Map() };
    const made = { number: this.#tallies.size, term, ahead: 0, by: '', ...maps };
    this.#tallies.set(term.key, made);
    return made;
  }

  #tieOf(subject: Subject) {
    const { beside = [], is = [] } = this.#own.get(subject) ?? {};
    return {
      asks: [...new Set(beside.map(({ tally: { number } }) => number))].sort((a, b) => a - b),
      is: new Set([...is].map(({ number }) => number)),
    };
  }

  #count({ is, apart }: Own, clusters: readonly string[], by: number): void {
    for (const { term, there } of is) this.#add(there, term, clusters, by);
    for (const { tally } of apart) this.#add(tally.apart, tally.term, clusters, by);
  }

  #add(counts: Map<string, number>, { topologyKey }: Term, clusters: readonly string[], by: number): void {
    for (const name of clusters) {
      const cluster = this.#clusters.get(name);
      const value = cluster && topologyOf(topologyKey, cluster);
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + by);
    }
  }
}

/** Whoever is the first of those that ask for each other goes where it likes: the others come after it. */
function notBeside({ tally, source }: Asked, { is }: Own, cluster: PhysicalCluster): string | undefined {
  const { term, decided, ahead } = tally;
  if (topologyOf(term.topologyKey, cluster) === undefined)
    return `it has no label ${term.topologyKey}, by which ${source} says what is beside it`;
  if (has(decided, tally, cluster)) return undefined;
  const isAnywhere = [...decided.values()].some((n) => n > 0);
  if (!isAnywhere && (ahead > 0 || is.has(tally))) return undefined;
  const which = isAnywhere ? `which is not ${where(tally)}` : 'which is on no cluster';
  return `${source} wants it beside ${term.shown}, ${which}`;
}

function isNamed({ wish }: Subject, name: string): boolean {
  return wish?.layers.some(({ isPolicy, names }) => !isPolicy && names?.includes(name)) === true;
}

function has(counts: ReadonlyMap<string, number>, { term }: Tally, cluster: PhysicalCluster): boolean {
  const value = topologyOf(term.topologyKey, cluster);
  return value !== undefined && (counts.get(value) ?? 0) > 0;
}

function where({ term: { topologyKey } }: Tally): string {
  return topologyKey === eachCluster ? 'there' : `in its ${shownKey(topologyKey)}`;
}

/** What its data holds leads, then what was placed first: nothing that a decision itself changes, or leaders would change with each. */
function leads(a: Subject, b: Subject): number {
  const held = ({ claims }: Subject) => (claims.hold.size > 0 ? 1 : 0);
  const since = ({ placement }: Subject) =>
    placement ? (placement.metadata.creationTimestamp ?? '') : 'never';
  return held(b) - held(a) || compareText(since(a), since(b));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
