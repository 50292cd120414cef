import { formatApiVersion } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { FieldSet } from '../../kube/patch/fields.ts';
import { updateManagers } from '../../kube/patch/managed.ts';
import type { ServedResource } from '../options.ts';
import { timestamp } from './metadata.ts';
import type { WriteOptions } from './types.ts';

/** `next` with metadata.managedFields as this write leaves them. */
export function withManagers(
  old: KubeObject | undefined,
  next: KubeObject,
  served: ServedResource,
  context: WriteOptions,
): KubeObject {
  if (!context.manager) return next;
  return updateManagers(old, next, {
    ...managementOf(served, context),
    manager: context.manager,
  });
}

/** Whose fields a write to the main resource or a subresource can own, and under which name. */
export function managementOf(served: ServedResource, context: { subresource?: string }) {
  const subresource = context.subresource ?? '';
  return {
    schema: served.schema,
    apiVersion: formatApiVersion(served.info),
    time: timestamp(new Date()),
    ...(subresource !== '' && { subresource }),
    ignore: subresource === 'status' ? allButStatus(served) : hasStatus(served) ? onlyStatus : undefined,
  };
}

const onlyStatus = FieldSet.of(['f:status']);

function hasStatus(served: ServedResource): boolean {
  return served.info.subresources.some((sub) => sub.name === 'status');
}

function allButStatus(served: ServedResource): FieldSet {
  const names = served.schema.type === 'object' ? [...served.schema.fields.keys()] : ['spec'];
  const outside = names.filter((name) => !['apiVersion', 'kind', 'metadata', 'status'].includes(name));
  return FieldSet.of(...outside.map((name) => [`f:${name}`]));
}
