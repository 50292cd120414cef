import type { Tracer } from '../../apiserver/tracer.ts';
import type { Transport } from '../../kube/http.ts';
import type { Store } from '../../storage/store.ts';
import type { Family } from '../metrics/family.ts';

/** Which part of a server a process is. */
export type Part = 'first' | 'serving' | 'control';

/** What a process does where requests are traced. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Whose reads and writes are steps of the requests that they are for. */
  over(store: Store): Store;
  /** The same way to another API, which is told which trace a request is part of. */
  along<R extends { transport: Transport }>(route: R | undefined): R | undefined;
  /** What became of the spans. */
  families(): Family[];
  /** Resolves when the last spans are told, or given up. */
  close(): Promise<void>;
}
