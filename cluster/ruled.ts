import type { KubeObject } from '../kube/object.ts';
import { at, isRecord, numberAt, setOwn } from '../kube/untyped.ts';
import { type KindReference, type KindRule, stepsOf } from './placed-resource.ts';
import type { ClosureRef, ClusterSlice, Placement } from './types.ts';

/** Beside the object, where neither JSON nor a comparison sees it. */
const origin = Symbol('origin');

interface Origin {
  object: KubeObject;
  rule: KindRule;
}

/**
 * An object of a kind that a rule is about, as whoever decides sees it: replicas and template are where a Deployment has
 * them, and nothing else of the spec is there that could be taken for what it is not. Metadata and status are its own.
 */
export function asRuled(object: KubeObject, rule: KindRule): KubeObject {
  const { apiVersion, metadata, status } = object;
  const replicas = rule.specReplicasPath && numberAt(object, ...stepsOf(rule.specReplicasPath));
  const template = at(object, ...stepsOf(rule.templatePath ?? '.spec.template'));
  return {
    apiVersion,
    kind: rule.specReplicasPath === undefined ? 'Full' : 'Counted',
    metadata,
    spec: {
      ...(typeof replicas === 'number' && { replicas }),
      ...(template !== undefined && { template }),
      ...(rule.strategy === 'Recreate' && { strategy: { type: 'Recreate' } }),
    },
    ...(status !== undefined && { status }),
    [origin]: { object, rule },
  } as KubeObject;
}

/** What asRuled was made of; undefined: the object is of a kind that the code knows. */
export function originOf(object: KubeObject): Origin | undefined {
  return (object as { [origin]?: Origin })[origin];
}

/** As its user calls it. */
export function kindOf(object: KubeObject): string {
  return (originOf(object)?.object ?? object).kind;
}

/** What a rule says that goes along, beside what its pods' template names. */
export function ruledReferences(object: KubeObject): ClosureRef[] {
  const found = originOf(object);
  return (found?.rule.references ?? []).flatMap((reference) => namesAt(reference, found?.object));
}

function namesAt(
  { group = '', resource, path }: KindReference,
  object: KubeObject | undefined,
): ClosureRef[] {
  let here: unknown[] = [object];
  for (const step of stepsOf(path)) here = here.flatMap((value) => flat(at(value, step)));
  return here.flatMap((name) => (typeof name === 'string' && name !== '' ? [{ group, resource, name }] : []));
}

function flat(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** A copy with a value at a path of own properties; what is in its way is replaced. */
export function setAt(
  value: unknown,
  [step, ...rest]: readonly string[],
  to: unknown,
): Record<string, unknown> {
  const copy: Record<string, unknown> = isRecord(value) ? { ...value } : {};
  if (step !== undefined) setOwn(copy, step, rest.length === 0 ? to : setAt(at(value, step), rest, to));
  return copy;
}

/** What its clusters say, with the counter that replicas are counted on by under Kubernetes' own name. */
export function slicesOf({ spec, status }: Pick<Placement, 'spec' | 'status'>): Record<string, ClusterSlice> {
  const slices = status?.clusters ?? {};
  const path = spec?.ref?.rule?.status?.availableReplicasPath;
  if (path === undefined) return slices;
  return Object.fromEntries(
    Object.entries(slices).map(([cluster, slice]): [string, ClusterSlice] => {
      const availableReplicas = numberAt({ status: slice.status }, ...stepsOf(path));
      if (!slice.status) return [cluster, slice];
      return [cluster, { ...slice, status: { ...slice.status, availableReplicas: availableReplicas ?? 0 } }];
    }),
  );
}
