import { applyDefaults, normaliseMetadata } from '../../kube/defaults/index.ts';
import type { UserInfo } from '../../kube/http.ts';
import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { invalid, type StatusCause } from '../../kube/status.ts';
import { finalizerWarnings } from '../../kube/warnings/finalizers.ts';
import { warningsOf } from '../../kube/warnings/index.ts';
import type { Entry } from '../../storage/store.ts';
import type { Authorizer } from '../plugins.ts';
import type { RequestInfo } from '../request.ts';
import type { ServedResource } from '../served.ts';
import type { KindWrite } from './kinds/hooks.ts';
import type { ObjectRegistry, WriteOptions } from './types.ts';

/** A write with what HTTP adds to it. */
export interface WriteContext extends WriteOptions {
  /** Admission. */
  mutate?(object: KubeObject, old: KubeObject | undefined): Later<void>;
  validate?(object: KubeObject, old: KubeObject | undefined): Later<void>;
  /** The object to create is nobody else's: it need not be copied before it is changed. */
  owned?: boolean;
  /** The client named the resourceVersion it saw: a lost race is its conflict, not ours to try again. */
  pinned?: boolean;
  /** A resourceVersion in the object to create is an error, which a dry run does not come to. */
  refuseVersion?: boolean;
  /** Who writes, and who says what they may; absent for the server's own writes. */
  user?: UserInfo;
  authorize?: Authorizer;
  /** By which request. */
  info?: RequestInfo;
  /** What is said beside the answer. */
  warn?(message: string): void;
  /** What was seen last of the object may be taken for what is there, until that turns out to be wrong: see updateObject. */
  guesses?: boolean;
  /** A status has to be one that Kubernetes takes. Those of our own controllers tell what clusters say, and some lie. */
  checksStatus?: boolean;
  /** A user's write, which the limits of the logical cluster hold for. */
  bounded?: boolean;
  /** Of one that is only tried: fails where there is no room for it. `before` is what is there. */
  room?(write: {
    key: string;
    name: string;
    value: Uint8Array;
    before?: Uint8Array | undefined;
  }): Later<void>;
  /** The name was made of generateName. */
  generated?: boolean;
  /** What is written is a patch of what is there: only a uid that was sent whole is a precondition. */
  patched?: boolean;
  /** Hears what a write stored: for those who answer with its bytes. */
  stored?(entry: Entry): void;
  /** Waited for before what is there is changed, an object of so many bytes. */
  longTurn?(bytes: number): Promise<void> | undefined;
  /** In the group and version that the client speaks; default: as it is stored. */
  requested?: ServedResource;
}

export interface Place {
  cluster: string;
  namespace: string;
  /** In which revision the namespace was made, once it was looked for. */
  made?: number;
}

export function writeOf(
  registry: ObjectRegistry,
  served: ServedResource,
  cluster: string,
  context: WriteContext,
): KindWrite {
  const { subresource = '', dryRun = false, user, authorize, info, manager } = context;
  return { registry, served, cluster, subresource, dryRun, user, authorize, info, manager, claims: [] };
}

export function defaulted(object: KubeObject, served: ServedResource): KubeObject {
  if (!served.custom) return applyDefaults(object, served.info);
  const metadata = normaliseMetadata(object.metadata);
  return served.defaults?.({ ...object, metadata }) ?? { ...object, metadata };
}

/** What was applied is validated with its nulls, and from then on shown without those that have no place. */
export function shownLater(object: KubeObject, served: ServedResource, context: WriteContext): KubeObject {
  return (context.managed && served.coerce?.(object).object) || object;
}

export function refuse(causes: readonly StatusCause[], served: ServedResource, name: string): void {
  if (causes.length > 0) throw invalid(served.info.group, served.info.kind, name, [...causes]);
}

export function warn(
  object: KubeObject,
  old: KubeObject | undefined,
  served: ServedResource,
  context: WriteContext,
): void {
  if (context.warn === undefined) return;
  const messages = served.custom ? finalizerWarnings(object, old) : warningsOf(object, old, served.info);
  for (const message of messages) context.warn(message);
}
