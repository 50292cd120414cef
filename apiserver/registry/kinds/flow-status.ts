import type { FlowResource } from '../../../kube/flow/bootstrap.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { applyServerSide } from '../../../kube/patch/managed.ts';
import { decodeStored } from '../codec.ts';
import { flowKinds } from '../flows.ts';
import { objectKey, parseKey } from '../keys.ts';
import { managementOf } from '../managers.ts';
import { defaultEntry, isWriting, showNamesake } from './default-objects.ts';
import type { Committed, KindHooks, KindWrite } from './hooks.ts';
import { type Condition, conditionsOf, isTold, withCondition, writeStatus } from './own-status.ts';

const group = 'flowcontrol.apiserver.k8s.io';
const levels = { group, resource: 'prioritylevelconfigurations', namespaced: false };
const manager = 'api-priority-and-fairness-config-consumer-v1';

export const schemaHooks: KindHooks = hooks('flowschemas', tellDangling);
export const levelHooks: KindHooks = hooks('prioritylevelconfigurations', tellDependents);

function hooks(
  resource: FlowResource,
  told: (write: KindWrite, name: string, change: Committed) => Promise<void>,
): KindHooks {
  return {
    prepare(write, object, old) {
      const own = old !== undefined || isWriting(write.registry, write.cluster, resource);
      return own ? undefined : showNamesake(write, resource, object);
    },
    async committed(write, name, change) {
      const key = objectKey(flowKinds[resource], write.cluster, '', name);
      write.registry.flows.wrote(key, change.object, change.revision);
      await told(write, name, change);
    },
  };
}

/** Says of a FlowSchema whether its priority level exists. https://kubernetes.io/docs/concepts/cluster-administration/flow-control/ */
async function tellDangling(write: KindWrite, name: string, { object }: Committed): Promise<void> {
  if (object === undefined || object.metadata.deletionTimestamp) return;
  const level = levelOf(object);
  const { registry, cluster } = write;
  const entry =
    (await registry.store.get(objectKey(levels, cluster, '', level))) ??
    defaultEntry(registry, levels, { cluster, namespace: '', name: level });
  await tell(write, name, object, dangling(level, entry !== undefined));
}

/** A priority level came or went: its FlowSchemas are no longer what they were. */
async function tellDependents(write: KindWrite, level: string, change: Committed): Promise<void> {
  if (change.object !== undefined && change.old !== undefined) return;
  const { registry, cluster } = write;
  const schemas = registry.find(cluster, group, 'flowschemas');
  if (schemas === undefined) return;
  const { entries } = await registry.readAll(schemas, cluster, '');
  for (const entry of entries) {
    const schema = decodeStored(entry);
    if (levelOf(schema) !== level || schema.metadata.deletionTimestamp) continue;
    const { name } = parseKey(schemas.info, entry.key);
    await tell({ ...write, served: schemas }, name, schema, dangling(level, change.object !== undefined));
  }
}

function levelOf(schema: KubeObject): string {
  const spec = (schema.spec ?? {}) as { priorityLevelConfiguration?: { name?: string } };
  return spec.priorityLevelConfiguration?.name ?? '';
}

function dangling(level: string, exists: boolean): Condition {
  const what = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`;
  return {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    reason: exists ? 'Found' : 'NotFound',
    message: exists ? `${what} and it exists` : `${what} but there is no such object`,
  };
}

async function tell(write: KindWrite, name: string, schema: KubeObject, told: Condition): Promise<void> {
  if (isTold(conditionsOf(schema), told)) return;
  const { registry, cluster, served } = write;
  const by = { ...managementOf(registry, cluster, served, { subresource: 'status' }), manager, force: true };
  const change = (current: KubeObject) => {
    const conditions = withCondition(conditionsOf(current), told).filter(({ type }) => type === told.type);
    const { kind, apiVersion } = current;
    const applied = { kind, apiVersion, metadata: { name }, status: { conditions } };
    return applyServerSide(current, applied, by).object;
  };
  await writeStatus(write, name, change, { managed: true });
}
