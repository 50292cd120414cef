import type { KubeObject } from '../../../kube/object.ts';
import { aggregates } from '../../../kube/rbac/aggregate.ts';
import { bootstrapObjects } from '../../../kube/rbac/bootstrap.ts';
import { objectKey } from '../keys.ts';
import { rbacKinds, rbacResource } from '../roles.ts';
import { aggregateAll, concerning, isAggregating } from './aggregation.ts';
import { isWriting, showNamesake, writeDefaults } from './default-objects.ts';
import { confirmBinding, confirmRole } from './escalation.ts';
import type { Committed, KindHooks, KindWrite } from './hooks.ts';

export const roleHooks: KindHooks = {
  async prepare(write, object, old) {
    await confirmRole(write, object, old);
    if (old === undefined) await namesake(write, object);
  },
  async committed(write, name, change) {
    tellIndex(write, name, change);
    if (write.served.info.resource === 'clusterroles' && !isAggregating(write))
      await aggregate(write, change);
  },
};

export const bindingHooks: KindHooks = {
  async prepare(write, object, old) {
    await confirmBinding(write, object, old);
    if (old === undefined) await namesake(write, object);
  },
  committed: tellIndex,
};

function namesake(write: KindWrite, object: KubeObject): Promise<void> | undefined {
  const { registry, cluster, served } = write;
  const resource = rbacResource(served.info.group, served.info.resource);
  if (resource === undefined || isWriting(registry, cluster, resource)) return undefined;
  return showNamesake(write, resource, object);
}

function tellIndex({ registry, cluster, served }: KindWrite, name: string, change: Committed): void {
  const resource = rbacResource(served.info.group, served.info.resource);
  if (resource === undefined) return;
  const { namespace = '' } = (change.object ?? change.old)?.metadata ?? {};
  const key = objectKey(rbacKinds[resource], cluster, namespace, name);
  registry.roles.wrote(key, change.object, change.revision);
}

/** What fails here is made good by the next write of a role that is a part of the same. */
async function aggregate({ registry, cluster }: KindWrite, { object, old }: Committed): Promise<void> {
  const concerned = concerning(object, old);
  if (concerned === undefined || isWriting(registry, cluster, 'clusterroles')) return;
  try {
    const byDefault = bootstrapObjects('clusterroles').filter(aggregates);
    if (byDefault.some(concerned)) await writeDefaults(registry, cluster, 'clusterroles');
    await aggregateAll(registry, cluster, concerned);
  } catch {
    // The write itself is done.
  }
}
