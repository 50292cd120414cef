import { formatApiVersion } from '../../kube/gvk.ts';
import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { FieldSet } from '../../kube/patch/fields.ts';
import { updateManagers } from '../../kube/patch/managed.ts';
import type { FieldManagement } from '../../kube/patch/record.ts';
import { resetFields } from '../../kube/strategy/reset.ts';
import { timestamp } from '../../kube/timestamp.ts';
import type { ServedResource } from '../served.ts';
import type { WriteContext } from './context.ts';
import { fromStored, isStored, toStored } from './convert.ts';
import { withVersions } from './converting.ts';
import type { ObjectRegistry } from './types.ts';

/** `next` with metadata.managedFields as this write leaves them; fields are told in the version of the request. */
export function withManagers(
  old: KubeObject | undefined,
  next: KubeObject,
  { registry, served, cluster }: { registry: ObjectRegistry; served: ServedResource; cluster: string },
  context: WriteContext,
): KubeObject {
  if (!context.manager) return next;
  if (served.info.unmanaged) return withoutManagers(next);
  const requested = served.conversion === undefined ? (context.requested ?? served) : served;
  const by = {
    ...managementOf(registry, cluster, requested, context),
    manager: context.manager,
  };
  if (isStored(requested)) return updateManagers(old, next, by);
  const { metadata } = updateManagers(old && fromStored(old, requested), fromStored(next, requested), by);
  const { managedFields: _, ...rest } = next.metadata;
  const { managedFields } = metadata;
  return { ...next, metadata: { ...rest, ...(managedFields && { managedFields }) } };
}

/** As withManagers, where others may own fields in other versions, which somebody else knows. */
export function managersAfter(
  old: KubeObject,
  next: KubeObject,
  write: { registry: ObjectRegistry; served: ServedResource; cluster: string },
  context: WriteContext,
): Later<KubeObject> {
  const { registry, served, cluster } = write;
  const { manager } = context;
  if (!registry.converting || !manager || served.info.unmanaged)
    return withManagers(old, next, write, context);
  const by = { ...managementOf(registry, cluster, served, context), manager };
  return withVersions(registry.converting, served, (inVersion) =>
    updateManagers(old, next, { ...by, inVersion }),
  ).catch(() => {
    // What nobody can tell is nobody's, and no reason to refuse a write.
    return withoutManagers(next);
  });
}

function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Whose fields a write to the main resource or a subresource can own, and under which name. */
export function managementOf(
  registry: ObjectRegistry,
  cluster: string,
  served: ServedResource,
  context: { subresource?: string },
): Omit<FieldManagement, 'manager'> {
  const subresource = context.subresource ?? '';
  return {
    schema: served.schema,
    apiVersion: formatApiVersion(served.info),
    time: timestamp(Date.now()),
    ...(subresource !== '' && { subresource }),
    ignore: ignored(served, subresource),
    inVersion: (object, apiVersion) => inVersion(registry, cluster, served, { object, apiVersion }),
  };
}

/** An object of one version of a kind in another that is served, with what that version knows of its fields. */
function inVersion(
  registry: ObjectRegistry,
  cluster: string,
  served: ServedResource,
  { object, apiVersion }: { object: KubeObject; apiVersion: string },
) {
  const other = registry.resources(cluster).find(
    ({ info }) =>
      // An Event has two groups: who wrote it in the other one owns nothing in this.
      info.group === served.info.group &&
      info.resource === served.info.resource &&
      info.kind === served.info.kind &&
      formatApiVersion(info) === apiVersion,
  );
  if (other === undefined) return undefined;
  // Whoever is not to ask a webhook takes nothing from anybody.
  if (served.conversion !== undefined) return { object: {} as KubeObject, schema: anything };
  return { object: fromStored(toStored(object, served), other), schema: other.schema };
}

const anything = { type: 'any' } as const;

const known = new WeakMap<ServedResource, Map<string, FieldSet | undefined>>();

function ignored(served: ServedResource, subresource: string): FieldSet | undefined {
  const sets = known.get(served) ?? new Map<string, FieldSet | undefined>();
  known.set(served, sets);
  if (!sets.has(subresource)) sets.set(subresource, ignoredSet(served, subresource));
  return sets.get(subresource);
}

function ignoredSet(served: ServedResource, subresource: string): FieldSet | undefined {
  const hasStatus = served.info.subresources.some((sub) => sub.name === 'status');
  const names = served.schema.type === 'object' ? [...served.schema.fields.keys()] : ['spec'];
  const paths = resetFields(served.info, subresource, { hasStatus, fields: names });
  if (paths.length === 0) return undefined;
  return FieldSet.of(...paths.map((path) => path.map((name) => `f:${name}`)));
}
