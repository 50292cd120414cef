import { objectKey } from '../client/url.ts';
import type { Placement } from '../cluster/types.ts';
import type { WorkQueue } from '../controller/queue.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { at } from '../kube/untyped.ts';
import { leadingTo, placementOfService, serviceOf } from './keys.ts';
import { endpointsIn, followedAt, type World } from './world.ts';

/**
 * Who may wait for the endpoints of a Service that leads to it: see Unled. When it selects others, all that are behind it, and what else
 * leads to these: an Ingress tells addresses by what the Services behind it select.
 */
export function wakeForServices(world: World, queue: Pick<WorkQueue, 'add'>): void {
  const led = (slice: KubeObject) => {
    for (const service of serviceOf(slice) ?? [])
      for (const { placement } of followedAt(world, service))
        if (isJoining(placement)) queue.add(objectKey(placement));
  };
  endpointsIn(world.roots)?.on({ add: led, update: led, delete: led });
  const selects = (service: KubeObject, old: KubeObject) => {
    if (deepEqual(at(service, 'spec', 'selector'), at(old, 'spec', 'selector'))) return;
    for (const { placement } of followedAt(world, placementOfService(service)))
      for (const key of [objectKey(placement), ...leadingTo(placement)])
        if (world.placements.get(key)) queue.add(key);
  };
  const [, services] = [...world.roots].find(([{ kind }]) => kind === 'Service') ?? [];
  services?.on({ update: selects });
}

function isJoining({ spec }: Placement): boolean {
  return Object.values(spec?.shares ?? {}).some(({ phase }) => phase === 'Joining');
}
