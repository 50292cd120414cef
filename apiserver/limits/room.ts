import type { GroupResource } from '../../kube/status.ts';
import { forbidden } from '../../kube/status.ts';
import type { Amounts } from './decide.ts';
import type { Gate } from './gate.ts';
import { amountsOf, clusterOf } from './keys.ts';

/** Of a write that is only tried: fails with 403 where it would be refused. `before` is what is there. */
export async function requireRoom(
  gate: Gate,
  resource: GroupResource,
  {
    key,
    name,
    value,
    before,
  }: { key: string; name: string; value: Uint8Array; before?: Uint8Array | undefined },
): Promise<void> {
  const refused = await gate.room(clusterOf(key), growth(key, value, before));
  if (refused !== undefined) throw forbidden(resource, name, refused);
}

function growth(key: string, value: Uint8Array, before: Uint8Array | undefined): Amounts {
  const now = amountsOf(key, value);
  if (before === undefined) return now;
  const had = amountsOf(key, before);
  return {
    objects: 0,
    customResourceDefinitions: 0,
    bytes: Math.max(0, now.bytes - had.bytes),
    webhooks: Math.max(0, now.webhooks - had.webhooks),
  };
}
