import type { KubeObject } from '../../kube/object.ts';
import { compareQuantity, type Quantity } from '../../kube/quantity.ts';
import { only, type ResourceList, readList, sameList, writeList } from '../../kube/quota/list.ts';

export type Quota = KubeObject<
  { hard?: Record<string, string> },
  { hard?: Record<string, string>; used?: Record<string, string> }
>;

export interface Decided {
  /** Undefined: it is so. */
  status: Quota['status'] | undefined;
  /** Less is used than was charged, and perhaps not yet made. */
  waits: boolean;
}

/**
 * The status that a quota is to have by what was counted. What is charged is made a moment later: until charges have
 * `settled`, a count that knows less of it than the quota does not lower it. https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export function decideStatus(quota: Quota, counted: ResourceList, settled: boolean): Decided {
  const { hard = {} } = quota.spec ?? {};
  const before = readList(quota.status?.used);
  const used = new Map<string, Quantity>(before);
  let waits = false;
  for (const [name, amount] of counted) {
    const known = before.get(name);
    const less = known !== undefined && compareQuantity(amount, known) < 0;
    if (less && !settled) waits = true;
    else if (known === undefined || compareQuantity(amount, known) !== 0) used.set(name, amount);
  }
  const wanted = only(used, Object.keys(hard));
  const isBounded = Object.keys(hard).length > 0;
  const hasStatus =
    quota.status?.hard !== undefined && (quota.status.used !== undefined || wanted.size === 0);
  const isSo = sameList(readList(hard), readList(quota.status?.hard)) && sameList(wanted, before);
  const status = { ...(isBounded && { hard }), ...(wanted.size > 0 && { used: writeList(wanted) }) };
  return { status: isSo && (hasStatus || !isBounded) ? undefined : status, waits };
}
