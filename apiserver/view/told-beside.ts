import type { ShareView, ShareViewSpec } from '../../cluster/types.ts';
import { enter, leave } from './tally.ts';

export interface ShareEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: ShareView;
}

/** What is told of a Service that is on other clusters too. */
export interface Made {
  /** The key of the slice that it was made of. */
  from: string;
  /** The cluster that has those endpoints. */
  peer: string;
  digest: string;
  last: ShareView;
}

/** What was looked at: all, where neither is said. */
export type Scope = Partial<Pick<Made, 'from' | 'peer'>>;

/** What a cluster has been told of beside its own shares: a list anew would be the same. */
export class ToldBeside {
  /** By the Service's placement key and the share's name; without manifests, which a DELETED event does not show. */
  readonly #told = new Map<string, Map<string, Made>>();
  /** By the key of the slice: the Services' keys. */
  readonly #from = new Map<string, Set<string>>();

  /** The Services that got something of this slice. */
  madeFrom(key: string): string[] {
    return [...(this.#from.get(key) ?? [])];
  }

  /** `made`: all that the Service is to have within the scope. */
  tell(key: string, made: readonly Made[], scope: Scope, revision: number): ShareEvent[] {
    const told = this.#told.get(key) ?? new Map<string, Made>();
    const wanted = new Map(made.map((one) => [one.last.metadata.name ?? '', one]));
    const events: ShareEvent[] = [];
    for (const [name, one] of told) {
      if (wanted.has(name) || !isIn(scope, one)) continue;
      told.delete(name);
      const { from, last } = one;
      if (![...told.values()].some((other) => other.from === from)) leave(this.#from, from, key);
      const metadata = { ...last.metadata, resourceVersion: String(revision) };
      events.push({ type: 'DELETED', object: { ...last, metadata } });
    }
    for (const [name, one] of wanted) {
      const before = told.get(name);
      if (before?.digest === one.digest) continue;
      const { manifest: _, ...spec } = one.last.spec as ShareViewSpec;
      enter(this.#from, one.from, key);
      told.set(name, { ...one, last: { ...one.last, spec } });
      events.push({ type: before ? 'MODIFIED' : 'ADDED', object: one.last });
    }
    if (told.size > 0) this.#told.set(key, told);
    else this.#told.delete(key);
    return events;
  }
}

function isIn({ from, peer }: Scope, made: Made): boolean {
  return (from === undefined || made.from === from) && (peer === undefined || made.peer === peer);
}
