import type { KubeObject } from '../../../kube/object.ts';
import { labelSelectorFromObject } from '../../../kube/selector.ts';
import { conflict, internalError, invalid, type StatusError } from '../../../kube/status.ts';
import { getOwn, isRecord, setOwn } from '../../../kube/untyped.ts';
import type { ScalePaths } from '../../../kube/validation/custom/scale.ts';
import type { ServedResource } from '../../served.ts';
import type { ReplicasPaths } from './scale-managers.ts';

const builtinPaths: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};

export function scaleOf(object: KubeObject, served: ServedResource): KubeObject {
  const paths = pathsOf(served);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.labelSelectorPath ? readPath(object, paths.labelSelectorPath) : undefined;
  const text = selectorText(selector);
  const replicas = numberAt(object, paths.specReplicasPath) ?? 0;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberAt(object, paths.statusReplicasPath) ?? 0,
      ...(text !== '' && { selector: text }),
    },
  };
}

/** A custom resource that says no number is not one of 0: an autoscaler would take it for turned off. */
export function requireReplicas(object: KubeObject, served: ServedResource): void {
  const path = served.subresources?.scale?.specReplicasPath;
  if (path !== undefined && readPath(object, path) === undefined)
    throw internalError(`the spec replicas field "${path}" does not exist`);
}

/** As the Scale says, which was put or made by a patch. It may not say less than none. */
export function scaled(
  object: KubeObject,
  served: ServedResource,
  scale: KubeObject,
  patched: boolean,
): KubeObject {
  const { replicas = 0 } = (scale.spec ?? {}) as { replicas?: number };
  // Of a custom resource it is told with what else is wrong with that.
  if (!served.custom && replicas < 0) throw tooFew(object, replicas);
  const next = pinned(object, patched ? withoutUid(object, served, scale) : scale);
  writePath(next, pathsOf(served).specReplicasPath, replicas);
  return next;
}

/** Versions of the built-in kinds that have a Scale. */
const versions: Readonly<Record<string, readonly string[]>> = {
  '': ['v1'],
  apps: ['apps/v1', 'apps/v1beta1', 'apps/v1beta2'],
};

/** A definition's versions are taken to have their replicas in one place. */
export function replicasPaths(served: ServedResource): ReplicasPaths {
  const path = steps(pathsOf(served).specReplicasPath).map((step) => `f:${step}`);
  const known = versions[served.info.group] ?? [];
  return (apiVersion) => (served.custom || known.includes(apiVersion) ? { path } : undefined);
}

function tooFew({ metadata }: KubeObject, replicas: number): StatusError {
  const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
  return invalid('autoscaling', 'Scale', metadata.name ?? '', [
    { reason: 'FieldValueInvalid', message, field: 'spec.replicas' },
  ]);
}

/** Of what is patched the uid is no precondition of the store's; of a custom resource it is none at all. */
function withoutUid(
  { metadata }: KubeObject,
  { info, custom }: ServedResource,
  scale: KubeObject,
): KubeObject {
  const { uid, ...rest } = scale.metadata;
  if (!custom && uid && uid !== metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`;
    throw conflict({ group: info.group, resource: `${info.resource}/scale` }, metadata.name ?? '', why);
  }
  return { ...scale, metadata: rest };
}

/** metadata.resourceVersion and uid of the Scale are preconditions on the object. */
function pinned(object: KubeObject, scale: KubeObject): KubeObject {
  const { uid, resourceVersion } = scale.metadata;
  const metadata = { ...object.metadata };
  if (uid) metadata.uid = uid;
  if (resourceVersion) metadata.resourceVersion = resourceVersion;
  return { ...object, metadata };
}

export function pathsOf(served: ServedResource): ScalePaths {
  return served.subresources?.scale ?? builtinPaths;
}

function steps(path: string): string[] {
  return path.split('.').filter((step) => step !== '');
}

function readPath(object: KubeObject, path: string): unknown {
  return steps(path).reduce<unknown>((at, step) => (isRecord(at) ? getOwn(at, step) : undefined), object);
}

function numberAt(object: KubeObject, path: string): number | undefined {
  const value = readPath(object, path);
  return typeof value === 'number' ? value : undefined;
}

export function writePath(object: KubeObject, path: string, value: unknown): void {
  const names = steps(path);
  let at: Record<string, unknown> = object;
  for (const name of names.slice(0, -1)) {
    const there = getOwn(at, name);
    const child = isRecord(there) ? { ...there } : {};
    setOwn(at, name, child);
    at = child;
  }
  setOwn(at, names.at(-1) ?? '', value);
}

/** A selector object in the text form of a query. */
function selectorText(selector: unknown): string {
  if (typeof selector === 'string') return selector;
  if (!isRecord(selector)) return '';
  const structured = 'matchLabels' in selector || 'matchExpressions' in selector;
  const matcher = labelSelectorFromObject(
    structured ? selector : { matchLabels: selector as Record<string, string> },
  );
  return matcher.requirements
    .map(({ key, operator, values }) => {
      if (operator === 'exists') return key;
      if (operator === '!') return `!${key}`;
      if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${values.join(',')})`;
      return `${key}${operator}${values[0] ?? ''}`;
    })
    .sort()
    .join(',');
}
