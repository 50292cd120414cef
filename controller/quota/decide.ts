import type { KubeObject } from '../../kube/object.ts';
import { addQuantity, compareQuantity, type Quantity, zeroQuantity } from '../../kube/quantity.ts';
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
 * The status that a quota is to have by what was counted. What is charged is made a moment later: a count lowers what is
 * used by no more than leaves room for what is `open`, charged and not there yet; by nothing where nobody knows how much
 * that is. https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export function decideStatus(quota: Quota, counted: ResourceList, open: ResourceList | undefined): Decided {
  const { hard = {} } = quota.spec ?? {};
  const before = readList(quota.status?.used);
  const used = new Map<string, Quantity>(before);
  let waits = false;
  for (const [name, amount] of counted) {
    const known = before.get(name);
    if (known === undefined || compareQuantity(amount, known) > 0) used.set(name, amount);
    if (known === undefined || compareQuantity(amount, known) >= 0) continue;
    const least = open ? addQuantity(amount, open.get(name) ?? zeroQuantity) : known;
    if (compareQuantity(least, amount) > 0) waits = true;
    if (compareQuantity(least, known) < 0) used.set(name, least);
  }
  const wanted = only(used, Object.keys(hard));
  const isBounded = Object.keys(hard).length > 0;
  const hasStatus =
    quota.status?.hard !== undefined && (quota.status.used !== undefined || wanted.size === 0);
  const isSo = sameList(readList(hard), readList(quota.status?.hard)) && sameList(wanted, before);
  const status = { ...(isBounded && { hard }), ...(wanted.size > 0 && { used: writeList(wanted) }) };
  return { status: isSo && (hasStatus || !isBounded) ? undefined : status, waits };
}
