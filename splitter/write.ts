import type { Client } from '../client/client.ts';
import { group, placements, version } from '../cluster/names.ts';
import type { PlacementSlice } from '../cluster/slices.ts';
import type { ObjectRef, Placement, Scale } from '../cluster/types.ts';
import { commitUnread } from '../controller/commit.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Split } from './split.ts';

interface Writer {
  client: Client;
  signal: AbortSignal;
}

/** By cluster, as it was stored when it was decided. */
type Said = ReadonlyMap<string, PlacementSlice>;

const shares = { group, version, resource: 'shares' } as const;

type Written = Omit<Split, 'scale' | 'once'> & { scale: Scale | undefined };

/**
 * Stale slices go before the shares are written, and those of shares that go after it. Shares and what is said of them are one
 * write, under the resourceVersion that they were decided by: a decision from a stale cache must not call back what was told to leave. A slice is
 * dropped as it was decided by, too: what a syncer says meanwhile is overlooked by nobody. See decisions/0058.
 */
export async function writePlacement(
  cluster: string,
  placement: Placement,
  outcome: Written,
  { said, tell, ...writer }: Writer & { said: Said; tell(): void },
): Promise<void> {
  const drop = async (c: string) => {
    const slice = said.get(c);
    if (slice) await dropSlice(cluster, slice, writer);
  };
  await Promise.all(outcome.stale.filter((c) => goesFirst(placement, said.get(c))).map(drop));
  const wanted = asWritten(placement, outcome);
  await commitUnread(writer.client, placements, placement, wanted, {
    cluster,
    signal: writer.signal,
    whole: true,
  });
  tell();
  const left = Object.keys(placement.spec?.shares ?? {}).filter((c) => !Object.hasOwn(outcome.shares, c));
  await Promise.all(left.map((c) => drop(c).catch(unlessHeardAnew)));
}

/**
 * What was said of no share; and that it is not there, said as it left a former time, which would count as said of this one. Any other word
 * of who is told to leave counts no more once that is written, and is there still where that is refused: see withSlices.
 */
function goesFirst({ spec }: Placement, slice: PlacementSlice | undefined): boolean {
  const { cluster = '', left } = slice?.spec ?? {};
  return left === true || !Object.hasOwn(spec?.shares ?? {}, cluster);
}

/** Who spoke once more is heard when the cache has it, and then that is stale. */
function unlessHeardAnew(error: unknown): void {
  if (!isStatusError(error, 'Conflict')) throw error;
}

/** What its cluster has said goes, as it was read; 409 where another word has come since. */
export async function dropSlice(
  cluster: string,
  { metadata, spec }: PlacementSlice,
  { client, signal }: Writer,
): Promise<void> {
  const { namespace, resourceVersion = '' } = metadata;
  const { placement, cluster: where = '' } = spec ?? {};
  const target = { cluster, namespace, name: placement?.name ?? '', subresource: 'status' };
  try {
    const view = client.with({ prefix: `/syncers/${where}` });
    await view.delete(shares, target, { preconditions: { resourceVersion } }, signal);
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}

export function asWritten(placement: Placement, outcome: Written): Placement {
  return withStatus(withShares(placement, outcome), outcome);
}

function withShares(old: Placement, { shares, scale }: Written): Placement {
  const isEmpty = Object.keys({ ...old.spec?.shares, ...shares }).length === 0;
  if (!old.spec || isEmpty) return old;
  const { scale: _before, leavingSince, ...spec } = old.spec;
  // The scheduler's word of a share goes with it, and is no other write for it.
  const since = Object.entries(leavingSince ?? {}).filter(([c]) => Object.hasOwn(shares, c));
  const left = since.length > 0 && { leavingSince: Object.fromEntries(since) };
  return { ...old, spec: { ...spec, shares, ...left, ...(scale && { scale }) } };
}

/** Of a share that is gone nothing is bound any more. */
function withStatus(old: Placement, { shares, conditions }: Written): Placement {
  const { bound = [], ...status } = old.status ?? {};
  const still = bound.filter((c) => Object.hasOwn(shares, c));
  return { ...old, status: { ...status, ...(still.length > 0 && { bound: still }), conditions } };
}

const refusals = ['Invalid', 'Forbidden', 'BadRequest'];

/**
 * The splitter alone writes the status of what is placed; an object that has just gone needs none. Returns why it was
 * refused, by the schema of a tenant's definition or by its policies: that is no reason for a hand-over to stand still.
 */
export async function writeRoot(
  cluster: string,
  ref: ObjectRef,
  root: KubeObject,
  status: Record<string, unknown>,
  { client, signal }: Writer,
): Promise<string | undefined> {
  const options = { cluster, signal, lock: false };
  try {
    try {
      await commitUnread(client, ref, root, { ...root, status }, options);
    } catch (error) {
      if (!ref.rule || !isStatusError(error, 'NotFound')) throw error;
      // Or the definition has no such subresource: then each write of the status is another generation, and none is ever observed.
      const { observedGeneration: _, ...words } = status;
      await commitUnread(
        client,
        ref,
        root,
        { ...root, status: words },
        { ...options, hasStatusApart: false },
      );
    }
  } catch (error) {
    if (isStatusError(error) && refusals.includes(error.reason)) return error.message;
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  return undefined;
}
