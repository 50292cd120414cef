import type { Client } from '../client/client.ts';
import { placements } from '../cluster/names.ts';
import type { ObjectRef, Placement, Scale } from '../cluster/types.ts';
import { commit } from '../controller/commit.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import type { Shares } from './plan.ts';
import type { Split } from './split.ts';

interface Writer {
  client: Client;
  signal: AbortSignal;
}

type Written = Omit<Split, 'scale'> & { scale: Scale | undefined };

/**
 * Stale slices before the shares, each under the resourceVersion that the write before left: a decision from a
 * stale cache must not call back what was told to leave, nor overlook what a syncer has just said. Otherwise the
 * shares first, since somebody waits for them.
 */
export async function writePlacement(
  cluster: string,
  placement: Placement,
  outcome: Written,
  { client, signal, tell }: Writer & { tell(): void },
): Promise<void> {
  const put = (old: Placement, wanted: Placement) =>
    commit(client, placements, old, wanted, { cluster, signal });
  const steps = [withShares, withStatus];
  if (outcome.stale.length > 0) steps.reverse();
  let current = placement;
  for (const step of steps) {
    current = await put(current, step(current, outcome, placement.spec?.shares ?? {}));
    // Once written it has happened, whatever becomes of the status.
    if (step === withShares) tell();
  }
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

/** What was said of a share goes with it, once that is written: said of no share it would be stale. */
function withStatus(old: Placement, { stale, conditions }: Written, before: Shares): Placement {
  const { clusters, ...status } = old.status ?? {};
  const has = (shares: Shares | undefined, c: string) => Object.hasOwn(shares ?? {}, c);
  const isLeft = (c: string) => has(before, c) && !has(old.spec?.shares, c);
  const kept = Object.entries(clusters ?? {}).filter(([c]) => !stale.includes(c) && !isLeft(c));
  return {
    ...old,
    status: { ...status, ...(clusters && { clusters: Object.fromEntries(kept) }), conditions },
  };
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
  try {
    await commit(client, ref, root, { ...root, status }, { cluster, signal, lock: false });
  } catch (error) {
    if (isStatusError(error) && refusals.includes(error.reason)) return error.message;
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  return undefined;
}
