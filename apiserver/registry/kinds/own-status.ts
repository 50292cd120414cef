import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { timestamp } from '../../../kube/timestamp.ts';
import type { WriteOptions } from '../types.ts';
import type { Committed, KindWrite } from './hooks.ts';

/** Status that kube-apiserver itself writes, as owner of its part: after the write that it tells of. */
export interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason: string;
  message: string;
}

/** `false`: the server itself told of it, or what was written is gone. A user's word on it is put right. */
export function isOwnCause({ subresource, user }: KindWrite, { object }: Committed): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return false;
  return subresource !== 'status' || user !== undefined;
}

/** Writes status; a lost race or an object that went is another's to tell of. */
export async function writeStatus(
  { registry, served, cluster }: Pick<KindWrite, 'registry' | 'served' | 'cluster'>,
  name: string,
  change: (current: KubeObject) => KubeObject,
  options: Pick<WriteOptions, 'manager' | 'managed'>,
): Promise<void> {
  const { group, resource } = served.info;
  const at = { cluster, group, resource, name };
  try {
    await registry.update(at, change, { subresource: 'status', ...options });
  } catch (error) {
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

/** The conditions with `next` among them; its time is kept while its status is. */
export function withCondition(conditions: readonly Condition[], next: Condition): Condition[] {
  const before = conditions.find(({ type }) => type === next.type);
  const lastTransitionTime =
    before?.status === next.status && before.lastTransitionTime
      ? before.lastTransitionTime
      : timestamp(new Date());
  const { type, status, reason, message } = next;
  const told: Condition = { type, status, lastTransitionTime, reason, message };
  if (before === undefined) return [...conditions, told];
  return conditions.map((one) => (one === before ? told : one));
}

export function conditionsOf(object: KubeObject | undefined): Condition[] {
  const { conditions } = (object?.status ?? {}) as { conditions?: unknown };
  return Array.isArray(conditions) ? (conditions as Condition[]) : [];
}

export function isTold(
  conditions: readonly Condition[],
  { type, status, reason, message }: Condition,
): boolean {
  return conditions.some(
    (one) => one.type === type && one.status === status && one.reason === reason && one.message === message,
  );
}
