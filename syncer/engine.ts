import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import type { ResourceRef } from '../client/url.ts';
import type { ClusterSlice, ObjectRef, ShareView, ShareViewSpec } from '../cluster/types.ts';
import type { WorkQueue } from '../controller/queue.ts';
import type { Turns } from '../controller/rush.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import type { Namespaces } from './namespaces.ts';
import type { Physical } from './physical.ts';
import { newRecord, type TargetRecord } from './records.ts';
import { requiredTarget, type TargetId, targetOf } from './target.ts';
import type { Unreadable } from './unreadable.ts';

/** What the parts of one syncer share: one physical cluster's lifetime. */
export interface Engine {
  name: string;
  /** The PhysicalCluster's uid. */
  uid: string;
  /** Those that it had before, and whose objects are taken over. */
  former: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  startedAt: number;
  upstream: Client;
  client: Client;
  shares: Informer<ShareView>;
  physical: Physical;
  namespaces: Namespaces;
  /** Makes sure that pods of such a share find the token of their account: see AccountTokens. */
  accountTokens: { ensure(spec: ShareViewSpec): Promise<void> };
  unreadable: Unreadable;
  records: Map<TargetId, TargetRecord>;
  /** What was said of each target to have been applied, as this syncer found it: until it is looked at for the first time. */
  found: Map<TargetId, string | undefined>;
  /** Targets to bring to what is wanted. */
  down: WorkQueue;
  /** Targets whose slice may have to be sent. */
  up: WorkQueue;
  rush: Turns;
  /** Whether reflected pods of this workload are still there, or may be. */
  hasPods(id: TargetId): boolean;
  /** Each pod of it is being deleted; false also where nobody knows. */
  endsPods(id: TargetId): boolean;
  /** Those of them that have not ended, with their ordinals; undefined while that is not known. */
  runningPods(id: TargetId, namespace: string): RunningPods | undefined;
  /** Why a pod of it has no node there; undefined: each has one, as far as anybody has said. */
  unplacedPod(id: TargetId): string | undefined;
  /** Its pods there are its own alone from now on, whoever has been given them: they go with it. */
  leaveOwners(id: TargetId, namespace: string): Promise<void>;
  /** The workload of ours that controls a physical object. */
  ownerOf(object: KubeObject): OwnerReference | undefined;
  /** Of the pod that is shown for the one at `<physical namespace>/<name>` of this uid; pending: it is on its way up. */
  shownUid(key: string, uid: string | undefined): string | 'pending' | undefined;
  /** Something left it: it may be removed after a while. */
  namespaceMayBeEmpty(namespace: string): void;
  signal: AbortSignal;
  logger: Logger;
}

export const sharesResource = { group: 'atoll.dev', version: 'v1alpha1', resource: 'shares' };

/** Finds shares by target, by what they require, and by physical namespace. */
export function indexShares(shares: Informer<ShareView>): void {
  shares.addIndex('target', (share) => [targetOf(share)]);
  shares.addIndex(ruled, ({ spec }) => (spec?.ref.rule ? [ruledKey(spec.ref)] : []));
  shares.addIndex('namespace', (share) => [share.spec?.physicalNamespace ?? '']);
  shares.addIndex('requires', (share) =>
    (share.spec?.requires ?? []).map((ref) => requiredTarget(share, ref)),
  );
}

const ruled = 'ruled';
const ruledKey = ({ group, kind }: { group: string; kind: string }) => `${group}/${kind}`;

/**
 * The resources of a kind that the code does not know and something here is of, each by one of its objects. In different logical
 * clusters one kind may be the name of different resources.
 */
export function ruledRefs(shares: Informer<ShareView>, group: string, kind: string): ObjectRef[] {
  const found = new Map<string, ObjectRef>();
  for (const { spec } of shares.byIndex(ruled, ruledKey({ group, kind })))
    if (spec) found.set(spec.ref.resource, spec.ref);
  return [...found.values()];
}

/** Of all kinds that something here is of, those that the code does not know. */
export function ruledResources(shares: Informer<ShareView>): ResourceRef[] {
  const found = new Map<string, ResourceRef>();
  for (const { spec } of shares.values()) {
    const { group = '', version = '', resource = '', rule } = spec?.ref ?? {};
    if (rule) found.set(`${group}/${resource}`, { group, version, resource });
  }
  return [...found.values()];
}

/** The one share that stands for a target; should there be two, the one that wants something there. */
export function shareFor(engine: Pick<Engine, 'shares'>, id: TargetId): ShareView | undefined {
  const found = engine.shares.byIndex('target', id);
  return found.find((share) => share.spec?.manifest) ?? found[0];
}

export function recordFor(engine: Pick<Engine, 'records'>, id: TargetId): TargetRecord {
  const known = engine.records.get(id);
  if (known) return known;
  const record = newRecord();
  engine.records.set(id, record);
  return record;
}

/** Pods that are there and have not ended; their ordinals where all have one. */
export type RunningPods = Omit<NonNullable<ClusterSlice['pods']>, 'since'>;
