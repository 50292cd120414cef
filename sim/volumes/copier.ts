import type { Client } from '../../client/client.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, objectKey } from '../../client/url.ts';
import { volumeCopies } from '../../cluster/names.ts';
import type { VolumeCopy, VolumeCopyStatus } from '../../cluster/volume-copy.ts';
import { runController } from '../../controller/controller.ts';
import { WorkQueue } from '../../controller/queue.ts';
import { sleep } from '../../kube/clock.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { resources } from '../resources.ts';
import { ignoreMissing } from '../workloads/controller.ts';
import { annotated, contentsAnnotation, contentsOf } from './contents.ts';

/** fail: it says that it failed. lie: it says Copied where there is not even a claim, else it fails. crash: it stops in the middle, and says nothing more of it. */
export type CopyFault = 'fail' | 'lie' | 'crash';

export interface CopierOptions {
  /** What VolumeCopies call it. */
  name: string;
  /** To Atoll: may read VolumeCopies and write their status. */
  client: Client;
  informers: InformerSet;
  /** To physical clusters. */
  clusterOf(name: string): Client | undefined;
  /** How long half of a copy takes. */
  halfMs?: ((copy: VolumeCopy) => number) | undefined;
  faultOf?: ((copy: VolumeCopy) => CopyFault | undefined) | undefined;
  signal: AbortSignal;
  logger: Logger;
}

const totalBytes = 1 << 20;

/**
 * A copier of simulated clusters: it carries what is said to be on a claim's volume from one to the other. An example of what one
 * has to do, too: docs/reference/copiers.md.
 */
export function runCopier(options: CopierOptions): Promise<void> {
  const { informers, signal, logger } = options;
  const queue = new WorkQueue();
  const copies = informers.for<VolumeCopy>(volumeCopies);
  const add = (copy: VolumeCopy) => queue.add(objectKey(copy));
  copies.on({ add, update: add });
  const crashed = new Set<string>();
  return runController({
    name: 'copier',
    queue,
    workers: 8,
    reconcile: async (key) => {
      const copy = copies.get(key);
      if (copy && isOurs(copy, options) && !crashed.has(copy.metadata.uid ?? ''))
        await copyOne(copy, options, crashed);
    },
    signal,
    logger,
    ready: [copies.synced],
  });
}

function isOurs({ spec, status, metadata }: VolumeCopy, { name }: CopierOptions): boolean {
  const hasEnded = status?.phase === 'Copied' || status?.phase === 'Failed';
  return spec?.copier === name && !hasEnded && metadata.deletionTimestamp === undefined;
}

async function copyOne(copy: VolumeCopy, options: CopierOptions, crashed: Set<string>): Promise<void> {
  const { halfMs = () => 0, faultOf, signal } = options;
  const fault = faultOf?.(copy);
  const say = (status: VolumeCopyStatus) => tell(copy, status, options);
  if (fault === 'lie')
    return say({
      phase: (await hasTarget(copy, options)) ? 'Failed' : 'Copied',
      message: 'nothing was copied',
    });
  await say({ phase: 'Copying', bytes: 0, totalBytes });
  await sleep(halfMs(copy), signal);
  if (fault === 'fail') return say({ phase: 'Failed', message: 'the simulated network broke' });
  if (fault === 'crash') {
    crashed.add(copy.metadata.uid ?? '');
    return undefined;
  }
  await say({ phase: 'Copying', bytes: totalBytes / 2, totalBytes });
  await sleep(halfMs(copy), signal);
  if (signal.aborted) return undefined;
  // Whoever was asked for it may have taken that back meanwhile.
  if (!(await isStillAsked(copy, options))) return undefined;
  await carry(copy, options);
  return say({ phase: 'Copied', bytes: totalBytes, totalBytes });
}

async function isStillAsked(copy: VolumeCopy, { client }: CopierOptions): Promise<boolean> {
  const { namespace, name = '', uid } = copy.metadata;
  const at = { cluster: logicalClusterOf(copy), namespace, name };
  const now = await client.get(volumeCopies, at).catch(ignoreMissing);
  return now?.metadata.uid === uid && now?.metadata.deletionTimestamp === undefined;
}

async function hasTarget({ spec }: VolumeCopy, { clusterOf }: CopierOptions): Promise<boolean> {
  const at = { namespace: spec?.physicalNamespace ?? '', name: spec?.claim ?? '' };
  const found = await clusterOf(spec?.to ?? '')
    ?.get(resources.claims, at)
    .catch(ignoreMissing);
  return found !== undefined;
}

/** Where there is nothing, nothing is to be brought. */
async function carry({ spec }: VolumeCopy, { clusterOf }: CopierOptions): Promise<void> {
  const { claim = '', physicalNamespace: namespace = '', from = '', to = '' } = spec ?? {};
  const [source, target] = [clusterOf(from), clusterOf(to)];
  if (!source || !target) throw new Error(`${source ? to : from} cannot be reached`);
  const at = { namespace, name: claim };
  const there = await source.get(resources.claims, at).catch(ignoreMissing);
  const body = annotated(contentsAnnotation, String(there ? contentsOf(there) : 0));
  const old = await target.get(resources.claims, at).catch(ignoreMissing);
  if (!old) await target.create(resources.claims, emptyClaim(there, at), { namespace });
  await target.patch(resources.claims, at, 'merge', body);
}

/** As that one is asked for, without its volume. */
export function emptyClaim(
  like: KubeObject | undefined,
  { namespace, name }: { namespace: string; name: string },
): KubeObject {
  const { volumeName: _volume, ...spec } = (like?.spec ?? defaultSpec) as Record<string, unknown>;
  const { labels } = like?.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, ...(labels && { labels }) },
    spec,
  };
}

const defaultSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

async function tell(
  copy: VolumeCopy,
  status: VolumeCopyStatus,
  { client, signal }: CopierOptions,
): Promise<void> {
  const { namespace, name = '', uid } = copy.metadata;
  const at = { cluster: logicalClusterOf(copy), namespace, name, subresource: 'status' };
  const lastProgressTime = timestamp(Date.now());
  const body = { metadata: { uid }, status: { ...status, lastProgressTime } };
  await client.patch(volumeCopies, at, 'merge', body, { signal }).catch(ignoreMissing);
}
