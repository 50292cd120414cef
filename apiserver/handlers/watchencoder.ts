import { formatApiVersion } from '../../kube/gvk.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { encodeProtobuf, encodeWatchEvent, protobufMediaType } from '../../kube/protobuf/codec.ts';
import type { StatusError } from '../../kube/status.ts';
import type { Entry, StoreEvent } from '../../storage/store.ts';
import type { ResourceExchange } from '../core.ts';
import { emptyObject } from '../encode/empty.ts';
import type { Form } from '../encode/negotiate.ts';
import { partial } from '../encode/partial.ts';
import { includeOf } from '../encode/respond.ts';
import { tableOf } from '../encode/table.ts';
import { spliceStored } from '../registry/codec.ts';
import { fromStored, isStored } from '../registry/convert.ts';
import { parseKey } from '../registry/keys.ts';
import { inScope } from '../registry/registry.ts';
import type { Selection } from '../registry/selectors.ts';
import { SharedForms } from './sharedforms.ts';

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';

const newline = Buffer.from('}\n');

/** Store events as the lines of one watch: filtered by its selection, in its shape and encoding. */
export class WatchEncoder {
  readonly #exchange: ResourceExchange;
  readonly #form: Form;
  readonly #selection: Selection;
  /** Watches of one form share the bytes of an event. */
  readonly #shape: string;
  readonly #plain: boolean;
  #columnsSent = false;

  constructor(exchange: ResourceExchange, form: Form, selection: Selection) {
    const { info } = exchange;
    this.#exchange = exchange;
    this.#form = form;
    this.#selection = selection;
    const wide = info.cluster === '*' ? '*' : '';
    this.#shape = [form.encoding, form.shape, form.version, exchange.served.info.version, wide].join(' ');
    this.#plain = form.encoding !== 'protobuf' && form.shape === 'object' && isStored(exchange.served);
  }

  get contentType(): string {
    return this.#form.encoding === 'protobuf' ? `${protobufMediaType};stream=watch` : 'application/json';
  }

  added(entry: Entry): Uint8Array {
    return this.#encode('ADDED', entry);
  }

  /** undefined: the watch does not see this event. */
  event(event: StoreEvent): Uint8Array | undefined {
    const { entry, previous } = event;
    if (!inScope(this.#exchange.stored, this.#exchange.info, entry)) return undefined;
    if (event.type === 'delete') {
      return this.#selected(entry) ? this.#encode('DELETED', entry) : undefined;
    }
    const is = this.#selected(entry);
    const was = previous !== undefined && this.#selected(previous);
    if (is) return this.#encode(was ? 'MODIFIED' : 'ADDED', entry);
    // It left the selection: its old self goes, at this event's revision.
    return was ? this.#encode('DELETED', { ...previous, revision: entry.revision }, true) : undefined;
  }

  bookmark(revision: number, annotations?: Record<string, string>): Uint8Array {
    const { served } = this.#exchange;
    const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
    const { kind } = served.info;
    const bare = { kind, apiVersion: formatApiVersion(served.info), metadata };
    if (this.#form.shape === 'PartialObjectMetadata')
      return this.#line('BOOKMARK', partial(bare, this.#form.version));
    const object = this.#form.encoding === 'protobuf' ? bare : emptyObject(served, metadata);
    return this.#line('BOOKMARK', this.#form.shape === 'Table' ? this.#table(object) : object);
  }

  error(error: StatusError): Uint8Array {
    return this.#line('ERROR', error.toStatus());
  }

  #selected(entry: Entry): boolean {
    if (this.#selection.everything) return true;
    const { core, info, stored } = this.#exchange;
    const form = `${info.cluster === '*' ? '*' : ''}${stored.info.version}`;
    return this.#selection.matches(entry.value, () =>
      shared.decoded(form, entry, () => core.registry.decode(stored, info.cluster, entry)),
    );
  }

  /** @param synthetic the entry is not what the store holds at its revision: nobody shares it. */
  #encode(type: EventType, entry: Entry, synthetic = false): Uint8Array {
    const table = this.#form.shape === 'Table';
    if (table || synthetic) return this.#make(type, entry);
    return shared.bytes(`${type} ${this.#shape}`, entry, () => this.#make(type, entry));
  }

  #make(type: EventType, entry: Entry): Uint8Array {
    const { core, info, stored, served } = this.#exchange;
    if (this.#plain) {
      const cluster = info.cluster === '*' ? parseKey(stored.info, entry.key).cluster : undefined;
      const bytes = spliceStored(entry, cluster === undefined ? {} : { cluster });
      return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), bytes, newline]);
    }
    const object = fromStored(core.registry.decode(stored, info.cluster, entry), served);
    if (this.#form.shape === 'PartialObjectMetadata') {
      return this.#line(type, partial(object, this.#form.version));
    }
    return this.#line(type, this.#form.shape === 'Table' ? this.#table(object) : object);
  }

  /** Columns come with the first event only. */
  #table(object: KubeObject) {
    const { resourceVersion } = object.metadata;
    const table = tableOf(this.#exchange.served, [object], {
      version: this.#form.version,
      include: includeOf(this.#exchange),
      metadata: { resourceVersion },
      now: new Date(),
    });
    if (this.#columnsSent) table.columnDefinitions = null;
    this.#columnsSent = true;
    return table;
  }

  #line(type: string, object: { kind: string; apiVersion: string }): Uint8Array {
    if (this.#form.encoding === 'protobuf') return encodeWatchEvent(type, encodeProtobuf(object));
    return Buffer.from(`${encodeJson({ type, object })}\n`);
  }
}

const shared = new SharedForms();
