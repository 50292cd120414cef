import { owned } from '../owned.ts';
import type { Entry, Range } from '../store.ts';
import { type KeyValue, number } from './wire.ts';

/** Where the store's keys are in etcd. Data below PREFIX/data, the servers' own notes below PREFIX/meta. */
export class Keys {
  readonly #data: string;
  readonly #meta: string;

  constructor(prefix = '/atoll') {
    this.#data = `${prefix}/data`;
    this.#meta = `${prefix}/meta/`;
  }

  /** Nobody ever writes it: asking for it costs nothing. */
  get nothing(): Uint8Array {
    return bytes(`${this.#meta}nothing`);
  }

  data(key: string): Uint8Array {
    return bytes(this.#data + key);
  }

  meta(name: string): Uint8Array {
    return bytes(this.#meta + name);
  }

  range({ start, end }: Range): { key: Uint8Array; rangeEnd: Uint8Array } {
    return { key: this.data(start), rangeEnd: this.data(end) };
  }

  /** The store's entry, which may be kept: a slice would keep the whole answer in memory. */
  entry(kv: KeyValue): Entry {
    return {
      key: this.name(kv),
      // An empty one is decoded to an empty array that is no bytes.
      value: kv.value.length === 0 ? new Uint8Array(0) : owned(kv.value),
      revision: number(kv.modRevision),
      created: number(kv.createRevision),
    };
  }

  name(kv: KeyValue): string {
    return Buffer.from(kv.key.buffer, kv.key.byteOffset, kv.key.length).toString('latin1', this.#data.length);
  }
}

/** Every key of the store. */
export const ALL: Range = { start: '', end: '\x7f' };

function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
