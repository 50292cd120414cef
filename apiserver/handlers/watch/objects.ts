import { formatApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject, WatchEvent } from '../../../kube/object.ts';
import type { StatusError } from '../../../kube/status.ts';
import type { Entry } from '../../../storage/store.ts';
import { shownFrom } from '../../encode/shown.ts';
import { type EventType, WatchTeller } from './teller.ts';

/** One event, and about how much it holds in memory. */
export interface Told {
  event: WatchEvent;
  length: number;
}

const small = 100;

/** Store events for a watch from inside this process: without a detour through bytes. Nobody may change the objects. */
export class WatchObjects extends WatchTeller<Told> {
  tell(type: EventType, entry: Entry, synthetic = false): Told {
    const object = shownFrom(this.exchange, entry, synthetic ? undefined : this.decoded(entry));
    return { event: { type, object }, length: entry.value.length };
  }

  bookmark(revision: number, annotations?: Record<string, string>): Told {
    const { info } = this.exchange.served;
    const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
    const object = { kind: info.kind, apiVersion: formatApiVersion(info), metadata };
    return { event: { type: 'BOOKMARK', object }, length: small };
  }

  error(error: StatusError): Told {
    return { event: { type: 'ERROR', object: error.toStatus() as unknown as KubeObject }, length: small };
  }
}

export function joinEvents(parts: readonly Told[]): readonly WatchEvent[] {
  return parts.map(({ event }) => event);
}
