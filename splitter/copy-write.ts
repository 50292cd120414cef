import type { Client } from '../client/client.ts';
import { apiVersion, placements, volumeCopies } from '../cluster/names.ts';
import { physicalNamespace } from '../cluster/placement.ts';
import type { Placement } from '../cluster/types.ts';
import type { VolumeCopy } from '../cluster/volume-copy.ts';
import { deepEqual } from '../kube/deep.ts';
import { isStatusError } from '../kube/status.ts';
import { getOwn } from '../kube/untyped.ts';
import type { Want } from './copies.ts';
import type { CopyStep } from './copy-step.ts';

interface Writer {
  client: Client;
  signal: AbortSignal;
  copierBetween(from: string, to: string): string | undefined;
}

/**
 * Asks copiers for what is waited for, and takes back what is not, once the shares are written. What is asked for overwrites a claim: so
 * the Placement is read anew first, and nothing is asked by what a cache says. Nobody else writes shares meanwhile.
 */
export async function writeCopies(
  cluster: string,
  placement: Placement,
  { wants, remove }: CopyStep,
  writer: Writer,
): Promise<void> {
  await Promise.all(remove.map((copy) => removeCopy(cluster, copy, writer)));
  const missing = wants.filter(({ state }) => state === 'missing');
  if (missing.length === 0) return;
  const { namespace, name = '' } = placement.metadata;
  const { client, signal } = writer;
  const now = await client
    .get<Placement>(placements, { cluster, namespace, name }, signal)
    .catch(unlessMissing);
  const still = missing.filter((want) => now && isStillHeld(now, placement, want));
  await Promise.all(still.map((want) => createCopy(cluster, placement, want, writer)));
}

/** It stands still where it was, since the very same time, and where it is to be no more of it runs than by what was decided. */
function isStillHeld(now: Placement, then: Placement, { from, to, trip }: Want): boolean {
  const share = getOwn(now.spec?.shares ?? {}, from);
  if (now.spec?.ref.uid !== then.spec?.ref.uid || share?.held?.since !== trip) return false;
  const told = ({ spec }: Placement) => {
    const { replicas = 0, ordinalsStart } = getOwn(spec?.shares ?? {}, to) ?? {};
    return replicas === 0 ? [0] : [replicas, ordinalsStart];
  };
  return deepEqual(told(now), told(then));
}

async function createCopy(
  cluster: string,
  { metadata, spec }: Placement,
  want: Want,
  writer: Writer,
): Promise<void> {
  const { claim, from, to, trip } = want;
  const copier = writer.copierBetween(from, to);
  if (!spec || copier === undefined) return;
  const { group, version, resource, kind, name, uid } = spec.ref;
  const { namespace = '' } = metadata;
  const copy: VolumeCopy = {
    apiVersion,
    kind: 'VolumeCopy',
    metadata: {
      name: claim,
      namespace,
      ownerReferences: [{ apiVersion: group === '' ? version : `${group}/${version}`, kind, name, uid }],
    },
    spec: {
      claim,
      physicalNamespace: spec.physicalNamespace ?? physicalNamespace(cluster, namespace),
      from,
      to,
      copier,
      workload: { group, resource, name, uid },
      trip,
    },
  };
  try {
    await writer.client.create(volumeCopies, copy, { cluster, signal: writer.signal });
  } catch (error) {
    // Of another workload of that name, or one that the cache does not have yet.
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
}

async function removeCopy(
  cluster: string,
  { metadata }: VolumeCopy,
  { client, signal }: Writer,
): Promise<void> {
  const { namespace, name = '', uid } = metadata;
  const how = uid ? { preconditions: { uid } } : {};
  await client.delete(volumeCopies, { cluster, namespace, name }, how, signal).catch(unlessGone);
}

function unlessMissing(error: unknown): undefined {
  if (!isStatusError(error, 'NotFound')) throw error;
  return undefined;
}

function unlessGone(error: unknown): void {
  if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
}
