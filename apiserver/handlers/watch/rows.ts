import type { KubeObject } from '../../../kube/object.ts';
import type { StatusError } from '../../../kube/status.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { clustersOf } from '../../encode/clusters-column.ts';
import type { Selection } from '../../registry/selectors.ts';
import type { WatchEncoder } from './encoder.ts';
import { joinBytes } from './stream.ts';
import { type EventType, WatchTeller } from './teller.ts';

/** An event that becomes a line when the reader takes it, and about how long that is. */
export interface WatchRow {
  length: number;
  object?: () => KubeObject;
  line(object: KubeObject | undefined, clusters: string | undefined): Uint8Array;
}

const small = 100;

/** A watch as a Table whose rows say more than their object does: that is read as they are sent. */
export class WatchRows extends WatchTeller<WatchRow> {
  readonly #encoder: WatchEncoder;

  constructor(exchange: ResourceExchange, selection: Selection, encoder: WatchEncoder) {
    super(exchange, selection);
    this.#encoder = encoder;
  }

  tell(type: EventType, entry: Entry): WatchRow {
    return {
      length: entry.value.length,
      object: () => this.#encoder.object(entry),
      line: (object, clusters) => this.#encoder.row(type, object as KubeObject, clusters ?? ''),
    };
  }

  bookmark(revision: number, annotations?: Record<string, string>): WatchRow {
    return { length: small, line: () => this.#encoder.bookmark(revision, annotations) };
  }

  error(error: StatusError): WatchRow {
    return { length: small, line: () => this.#encoder.error(error) };
  }

  readonly join = async (rows: readonly WatchRow[]): Promise<Uint8Array> => {
    const objects = rows.map(({ object }) => object?.());
    const said = objects.filter((object) => object !== undefined);
    const cells = await clustersOf(this.exchange, said);
    const cellOf = new Map(said.map((object, i) => [object, cells[i]]));
    return joinBytes(rows.map((row, i) => row.line(objects[i], objects[i] && cellOf.get(objects[i]))));
  };
}
