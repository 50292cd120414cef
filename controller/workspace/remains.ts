import type { Client } from '../../client/client.ts';
import { workspaces } from '../../cluster/names.ts';
import type { Condition } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import { timestamp } from '../../kube/timestamp.ts';
import type { Remains } from '../namespace/decide.ts';
import type { Workspace } from './types.ts';

/** kcp's. */
const type = 'WorkspaceContentDeleted';
const longestMessage = 1000;

/** As of a Namespace that ends: that it does, and once it takes a while what is still there and why. */
export async function tellEnd(
  client: Client,
  target: { cluster: string; name: string },
  { status }: Workspace,
  remains?: Remains,
): Promise<void> {
  const old = (status?.conditions ?? []) as Condition[];
  const conditions = remains ? [...old.filter((one) => one.type !== type), told(remains, old)] : old;
  if (status?.phase === 'Terminating' && deepEqual(conditions, old)) return;
  const body = { status: { phase: 'Terminating', ...(conditions.length > 0 && { conditions }) } };
  await client.patch(workspaces, { ...target, subresource: 'status' }, 'merge', body);
}

function told({ counts, finalizers, failures, unknown }: Remains, old: readonly Condition[]): Condition {
  const content = Object.entries(counts).map(([name, n]) => `${name} has ${n} resource instances`);
  const held = Object.entries(finalizers).map(([name, n]) => `${name} in ${n} resource instances`);
  const message = [
    unknown.length > 0 ? `Discovery failed for some groups: ${unknown.join(', ')}` : '',
    failures.length > 0 ? `Failed to delete all resource types: ${failures.join(', ')}` : '',
    content.length > 0 ? `Some resources are remaining: ${content.join(', ')}` : '',
    held.length > 0 ? `Some content has finalizers remaining: ${held.join(', ')}` : '',
  ];
  const before = old.find((one) => one.type === type);
  return {
    type,
    status: 'False',
    reason: failures.length + unknown.length > 0 ? 'ContentDeletionFailed' : 'SomeResourcesRemain',
    message: message
      .filter((part) => part !== '')
      .join('; ')
      .slice(0, longestMessage),
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : timestamp(),
  };
}
