import type { ResourceRef } from '../client/url.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, numberAt } from '../kube/untyped.ts';
import { rootCaName } from './namespace/furnish.ts';
import { isTokenSecret } from './tokens/decide.ts';
import { policies } from './typecheck/look.ts';

/** Which addresses lead to them is told by whoever gives those, in a logical cluster or where it runs. */
const addressed = new Set(['services', 'ingresses.networking.k8s.io']);
const holdData = new Set(['configmaps', 'secrets']);
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What the controllers' shared caches keep of an object: of ConfigMaps and Secrets not what they carry, which is most
 * of what users store and no controller's business, only of what type a Secret is; but what a controller keeps right stays whole: the authority in each
 * namespace, and ServiceAccounts' tokens. Of policies not what they say, which is read when it is checked.
 * Of Services and Ingresses who wrote their addresses, too. Undefined: as the cache does it.
 */
export function slim({ group, resource }: ResourceRef): (<T extends KubeObject>(object: T) => T) | undefined {
  if (group === policies.group && resource === policies.resource) return withoutSpec;
  if (addressed.has(group === '' ? resource : `${resource}.${group}`)) return withWriters;
  return group === '' && holdData.has(resource) ? withoutData : undefined;
}

/** Of managedFields what says whose the addresses are. */
function withWriters<T extends KubeObject>(object: T): T {
  const { managedFields = [], ...metadata } = object.metadata;
  const wrote = managedFields.filter(
    ({ fieldsV1 }) => at(fieldsV1, 'f:status', 'f:loadBalancer', 'f:ingress') !== undefined,
  );
  return { ...object, metadata: { ...metadata, ...(wrote.length > 0 && { managedFields: wrote }) } };
}

function withoutSpec<T extends KubeObject>({ apiVersion, kind, metadata, status }: T): T {
  const { managedFields: _fields, annotations, ...rest } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { ...rest, ...(annotations && { annotations: few(annotations) }) },
    ...(status !== undefined && { status: { observedGeneration: numberAt(status, 'observedGeneration') } }),
  } as unknown as T;
}

function withoutData<T extends KubeObject>(object: T): T {
  const { managedFields: _fields, annotations, ...metadata } = object.metadata;
  if (metadata.name === rootCaName || isTokenSecret(object))
    return { ...object, metadata: { ...metadata, ...(annotations && { annotations }) } };
  const { apiVersion, kind, type } = object as KubeObject & { type?: unknown };
  return {
    apiVersion,
    kind,
    metadata: { ...metadata, ...(annotations && { annotations: few(annotations) }) },
    ...(type !== undefined && { type }),
  } as T;
}

function few({ [lastApplied]: _applied, ...annotations }: Record<string, string>): Record<string, string> {
  return annotations;
}
