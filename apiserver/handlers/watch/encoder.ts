import { formatApiVersion } from '../../../kube/gvk.ts';
import { encodeJson } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { encodeProtobuf, encodeWatchEvent, protobufMediaType } from '../../../kube/protobuf/codec.ts';
import type { StatusError } from '../../../kube/status.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { saysClusters } from '../../encode/clusters-column.ts';
import { emptyObject } from '../../encode/empty.ts';
import type { Form } from '../../encode/negotiate.ts';
import { partial } from '../../encode/partial.ts';
import { includeOf } from '../../encode/respond.ts';
import { isSpliced, shownFrom, toSplice } from '../../encode/shown.ts';
import { tableOf } from '../../encode/table.ts';
import { spliceStored } from '../../registry/codec.ts';
import { parseKey } from '../../registry/keys.ts';
import type { Selection } from '../../registry/selectors.ts';
import { type EventType, shared, WatchTeller } from './teller.ts';

const newline = Buffer.from('}\n');

/** Store events as the lines of one watch, in its shape and encoding. */
export class WatchEncoder extends WatchTeller<Uint8Array> {
  readonly #form: Form;
  /** Watches of one form share the bytes of an event. */
  readonly #shape: string;
  readonly #plain: boolean;
  #columnsSent = false;

  constructor(exchange: ResourceExchange, form: Form, selection: Selection) {
    super(exchange, selection);
    const { info } = exchange;
    this.#form = form;
    const wide = info.cluster === '*' ? '*' : '';
    this.#shape = [form.encoding, form.shape, form.version, exchange.served.info.version, wide].join(' ');
    this.#plain = form.encoding !== 'protobuf' && form.shape === 'object' && isSpliced(exchange);
  }

  get contentType(): string {
    return this.#form.encoding === 'protobuf' ? `${protobufMediaType};stream=watch` : 'application/json';
  }

  bookmark(revision: number, annotations?: Record<string, string>): Uint8Array {
    const { served } = this.exchange;
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

  tell(type: EventType, entry: Entry, synthetic = false): Uint8Array {
    const table = this.#form.shape === 'Table';
    if (table || synthetic) return this.#make(type, entry);
    return shared.bytes(`${type} ${this.#shape}`, entry, () => this.#make(type, entry));
  }

  object(entry: Entry): KubeObject {
    return shownFrom(this.exchange, entry);
  }

  /** Of a Table that says where its objects are. */
  row(type: EventType, object: KubeObject, clusters: string): Uint8Array {
    return this.#line(type, this.#table(object, clusters));
  }

  #make(type: EventType, entry: Entry): Uint8Array {
    const { info, stored } = this.exchange;
    if (this.#plain) {
      const cluster = info.cluster === '*' ? parseKey(stored.info, entry.key).cluster : undefined;
      const bytes = spliceStored(toSplice(this.exchange, entry), cluster === undefined ? {} : { cluster });
      return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), bytes, newline]);
    }
    const object = this.object(entry);
    if (this.#form.shape === 'PartialObjectMetadata') {
      return this.#line(type, partial(object, this.#form.version));
    }
    return this.#line(type, this.#form.shape === 'Table' ? this.#table(object) : object);
  }

  /** Columns come with the first event only. */
  #table(object: KubeObject, clusters?: string) {
    const says = clusters !== undefined || saysClusters(this.exchange, this.#form);
    const { resourceVersion } = object.metadata;
    const table = tableOf(this.exchange.served, [object], {
      version: this.#form.version,
      include: includeOf(this.exchange),
      metadata: { resourceVersion },
      now: new Date(),
      clusters: says ? [clusters ?? ''] : undefined,
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
