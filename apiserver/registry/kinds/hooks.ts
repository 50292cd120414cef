import type { UserInfo } from '../../../kube/http.ts';
import type { Later } from '../../../kube/later.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { StatusCause } from '../../../kube/status.ts';
import type { Authorizer } from '../../plugins.ts';
import type { RequestInfo } from '../../request.ts';
import type { ServedResource } from '../../served.ts';
import type { ObjectRegistry } from '../types.ts';

/** What a kind needs beyond defaults, strategy and validation. `old` is undefined for a create. */
export interface KindHooks {
  /** After admission, before the strategy; may change `object`. */
  prepare?(write: KindWrite, object: KubeObject, old: KubeObject | undefined): Later<void>;
  /** After the strategy has set what clients may not. */
  settle?(object: KubeObject, old: KubeObject | undefined, subresource: string): void;
  /** What else validation finds, with other objects at hand; not asked about subresources. */
  causes?(write: KindWrite, object: KubeObject, old: KubeObject | undefined): Later<StatusCause[]>;
  /** What else there is to say of a status that a user tells; first of all. */
  statusCauses?(write: KindWrite, object: KubeObject, old: KubeObject): Later<StatusCause[]>;
  /** Before the object goes for good; may be called again. */
  leaving?(write: KindWrite, name: string): Later<void>;
  /** After the write is durable, before it is answered. Must not fail. */
  committed?(write: KindWrite, name: string, change: Committed): Later<void>;
}

/** `object` is undefined when it went, `old` when it is new. */
export interface Committed {
  object: KubeObject | undefined;
  old: KubeObject | undefined;
  revision: number;
}

export interface KindWrite {
  registry: ObjectRegistry;
  served: ServedResource;
  cluster: string;
  subresource: string;
  dryRun: boolean;
  /** Who writes, and who says what they may; absent for the server's own writes. */
  user?: UserInfo | undefined;
  authorize?: Authorizer | undefined;
  /** By which request. */
  info?: RequestInfo | undefined;
  /** The field manager that was named, or that the server writes as. */
  manager?: string | undefined;
  /** What hooks claimed for it so far: see claims.ts. */
  claims: Claim[];
  /** The store was asked to write the object: whether it did, an error may leave open. */
  asked?: boolean;
}

/** A claim that a write made, to be given back if it fails. */
interface Claim {
  key: string;
  revision: number;
}
