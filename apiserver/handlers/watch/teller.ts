import type { KubeObject } from '../../../kube/object.ts';
import type { StatusError } from '../../../kube/status.ts';
import type { Entry, StoreEvent } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { shownStored } from '../../registry/codec.ts';
import { parseKey } from '../../registry/keys.ts';
import { inScope } from '../../registry/registry.ts';
import type { Selection } from '../../registry/selectors.ts';
import { SharedForms } from './shared-forms.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** What one watch is told of store events: filtered by its selection, each as a T. */
export abstract class WatchTeller<T> {
  readonly exchange: ResourceExchange;
  readonly #selection: Selection;

  constructor(exchange: ResourceExchange, selection: Selection) {
    this.exchange = exchange;
    this.#selection = selection;
  }

  /** What one event is. @param synthetic the entry is not what the store holds at its revision: nobody shares it. */
  abstract tell(type: EventType, entry: Entry, synthetic?: boolean): T;
  abstract bookmark(revision: number, annotations?: Record<string, string>): T;
  abstract error(error: StatusError): T;

  added(entry: Entry): T {
    return this.tell('ADDED', entry);
  }

  /** undefined: the watch does not see this event. */
  event(event: StoreEvent): T | undefined {
    if (!inScope(this.exchange.stored, this.exchange.info, event.entry)) return undefined;
    const entry = this.#defined(event.entry, event.type === 'delete');
    const previous = event.previous && this.#defined(event.previous);
    if (event.type === 'delete') {
      return this.#selected(entry) ? this.tell('DELETED', entry) : undefined;
    }
    const is = this.#selected(entry);
    const was = previous !== undefined && this.#selected(previous);
    if (is) return this.tell(was ? 'MODIFIED' : 'ADDED', entry);
    // It left the selection: its old self goes, at this event's revision.
    return was ? this.tell('DELETED', { ...previous, revision: entry.revision }, true) : undefined;
  }

  /** The entry as an object, which others see too: nobody may change it. */
  decoded(entry: Entry): KubeObject {
    const { info, stored } = this.exchange;
    const form = `${info.cluster === '*' ? '*' : ''}${stored.info.version}`;
    return shared.decoded(form, entry, () => {
      const cluster = info.cluster === '*' ? parseKey(stored.info, entry.key).cluster : undefined;
      return shownStored(entry, cluster);
    });
  }

  #defined(entry: Entry, old = false): Entry {
    const { core, info, stored } = this.exchange;
    return core.registry.asDefined(stored, info.cluster, entry, old);
  }

  #selected(entry: Entry): boolean {
    if (this.#selection.everything) return true;
    return this.#selection.matches(entry.value, () => this.decoded(entry));
  }
}

/** Watches of one form share what they make of an event. */
export const shared = new SharedForms();
