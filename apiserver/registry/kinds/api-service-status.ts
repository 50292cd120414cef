import type { KubeObject } from '../../../kube/object.ts';
import { decodeStored } from '../codec.ts';
import { objectKey, parseKey } from '../keys.ts';
import type { Committed, KindWrite } from './hooks.ts';
import { type Condition, conditionsOf, isTold, withCondition, writeStatus } from './own-status.ts';

const services = { group: '', resource: 'services', namespaced: true };
const manager = 'kube-apiserver';

interface Target {
  name?: string;
  namespace?: string;
}

/** Says at once of an APIService whose Service is not there that it is not; whether others answer a controller finds out. */
export async function tellAvailable(write: KindWrite, name: string, change: Committed): Promise<void> {
  const { object } = change;
  const target = targetOf(object);
  if (target === undefined || object === undefined || object.metadata.deletionTimestamp) return;
  const at = objectKey(services, write.cluster, target.namespace ?? '', target.name ?? '');
  if ((await write.registry.store.get(at)) !== undefined) return;
  await tell(write, name, object, serviceNotFound(target));
}

/** A Service went that an APIService may name. */
export async function tellApiServices(write: KindWrite, { object, old }: Committed): Promise<void> {
  const { metadata } = old ?? {};
  if (metadata === undefined || object !== undefined) return;
  const { registry, cluster } = write;
  const served = registry.find(cluster, 'apiregistration.k8s.io', 'apiservices');
  if (served === undefined) return;
  const { entries } = await registry.readAll(served, cluster, '');
  for (const entry of entries) {
    const apiService = decodeStored(entry);
    const target = targetOf(apiService);
    if (target?.name !== metadata.name || target?.namespace !== metadata.namespace) continue;
    const { name } = parseKey(served.info, entry.key);
    await tell({ ...write, served }, name, apiService, serviceNotFound(target ?? {}));
  }
}

function targetOf(apiService: KubeObject | undefined): Target | undefined {
  return (apiService?.spec as { service?: Target } | undefined)?.service;
}

function serviceNotFound({ name, namespace }: Target): Condition {
  const message = `service/${name} in "${namespace}" is not present`;
  return { type: 'Available', status: 'False', reason: 'ServiceNotFound', message };
}

async function tell(write: KindWrite, name: string, apiService: KubeObject, told: Condition): Promise<void> {
  if (isTold(conditionsOf(apiService), told)) return;
  const change = (current: KubeObject) => ({
    ...current,
    status: { ...(current.status as object), conditions: withCondition(conditionsOf(current), told) },
  });
  await writeStatus(write, name, change, { manager });
}
