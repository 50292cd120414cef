import type { KubeObject } from '../object.ts';
import { record } from '../untyped.ts';
import type { Change, Evaluator } from './evaluator.ts';
import {
  added,
  exceeding,
  increase,
  negatives,
  only,
  printList,
  type ResourceList,
  readList,
  sameList,
  sortedNames,
  withoutZeros,
} from './list.ts';
import { scopesOf } from './scope.ts';

/** A ResourceQuota with what is used of it now: of the status alone does admission know. */
export interface Account {
  readonly quota: KubeObject;
  readonly hard: ResourceList;
  /** Replaced, never changed, by what `charge` answers. */
  used: ResourceList;
}

export function accountOf(quota: KubeObject): Account {
  const status = record(quota.status);
  return { quota, hard: readList(status['hard']), used: readList(status['used']) };
}

/** What is used when the write is done, for each account that it changes; or why it must not be. */
export type Charge = { refused: string } | { used: ReadonlyMap<Account, ResourceList> };

/**
 * What a write costs. It has to fit into all of the quotas that it concerns; what it no longer uses is given back by who
 * counts. https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export function charge(
  accounts: readonly Account[],
  change: Change,
  evaluator: Evaluator,
  now: number,
): Charge {
  const free: Charge = { used: new Map() };
  if (!evaluator.handles(change)) return free;
  const concerned = accounts.filter((account) => concerns(account, evaluator, change.object));
  if (concerned.length === 0) return free;
  for (const account of concerned) {
    const why = unready(account, evaluator, change.object);
    if (why !== undefined) return { refused: why };
  }
  const usage = evaluator.usage(change.object, now);
  const negative = negatives(usage);
  if (negative.length > 0)
    return { refused: `quota usage is negative for resource(s): ${negative.join(',')}` };
  const used = new Map<Account, ResourceList>();
  for (const account of concerned) {
    const asked = only(costOf(account, change, evaluator, { usage, now }), account.hard.keys());
    if (asked.size === 0) continue;
    const sum = added(account.used, asked);
    const over = change.subresource === 'status' ? [] : exceeding(only(sum, asked.keys()), account.hard);
    if (over.length > 0) return { refused: exceeded(account, asked, over) };
    if (!sameList(sum, account.used)) used.set(account, sum);
  }
  return { used };
}

function concerns({ quota, hard }: Account, evaluator: Evaluator, object: KubeObject): boolean {
  if (![...hard.keys()].some((name) => evaluator.counts(name))) return false;
  return scopesOf(quota).every((scope) => evaluator.matches(scope, object));
}

/** Why nobody can tell whether the object fits. */
function unready(
  { quota, hard, used }: Account,
  evaluator: Evaluator,
  object: KubeObject,
): string | undefined {
  const name = quota.metadata.name ?? '';
  const bounded = [...hard.keys()].filter((one) => evaluator.counts(one));
  const missing = evaluator.missing?.(bounded, object);
  if (missing !== undefined) return `failed quota: ${name}: ${missing}`;
  if (bounded.every((one) => used.has(one))) return undefined;
  return `status unknown for quota: ${name}, resources: ${sortedNames(bounded).join(',')}`;
}

/** All of it where the quota did not count what was there before. */
function costOf(
  account: Account,
  { operation, old }: Change,
  evaluator: Evaluator,
  { usage, now }: { usage: ResourceList; now: number },
): ResourceList {
  const counted = operation === 'UPDATE' && old !== undefined && concerns(account, evaluator, old);
  return withoutZeros(counted ? increase(usage, evaluator.usage(old, now)) : usage);
}

function exceeded({ quota, used, hard }: Account, asked: ResourceList, over: readonly string[]): string {
  const [requested, before, limited] = [asked, used, hard].map((list) => printList(only(list, over)));
  const name = quota.metadata.name ?? '';
  return `exceeded quota: ${name}, requested: ${requested}, used: ${before}, limited: ${limited}`;
}
