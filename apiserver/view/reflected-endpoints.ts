import { reflectedPartsAnnotation } from '../../cluster/names.ts';
import { reflectedAs, reflectedFrom } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import { notFound } from '../../kube/status.ts';
import { isRecord, setOwn, textAt } from '../../kube/untyped.ts';
import type { Making } from './making.ts';

/** The Endpoints of a Service on several clusters are one here: the subsets of all. Fails with 404 for another's. */
export function endpointsFrom(
  { kind, address, body, before, owners }: Making,
  object: KubeObject,
): KubeObject {
  const services = [...owners.values()].filter(
    ({ group, resource }) => group === '' && resource === 'services',
  );
  if (!services.some(({ name }) => name === address.name)) throw notFound(kind, address.name);
  const parts = partsOf(before);
  setOwn(parts, address.cluster, Array.isArray(body['subsets']) ? body['subsets'] : []);
  return combined(object, parts);
}

/** What is left when a cluster has it no more; undefined: nothing. */
export function withoutSubsets(before: KubeObject, cluster: string): KubeObject | undefined {
  const parts = Object.fromEntries(Object.entries(partsOf(before)).filter(([name]) => name !== cluster));
  return Object.keys(parts).length > 0 ? combined(before, parts) : undefined;
}

function combined(object: KubeObject, parts: Record<string, unknown[]>): KubeObject {
  const clusters = Object.keys(parts).sort();
  const { [reflectedPartsAnnotation]: _parts, ...rest } = object.metadata.annotations ?? {};
  const annotations = {
    ...reflectedAs(rest, object.metadata.uid ?? '', clusters),
    ...(clusters.length > 1 && { [reflectedPartsAnnotation]: JSON.stringify(parts) }),
  };
  const subsets = clusters.flatMap((name) => parts[name] ?? []);
  const { subsets: _, ...others } = object;
  return { ...others, metadata: { ...object.metadata, annotations }, ...(subsets.length > 0 && { subsets }) };
}

/** Of one cluster alone they are the object's own subsets. */
function partsOf(object: KubeObject | undefined): Record<string, unknown[]> {
  const from = object ? reflectedFrom(object) : [];
  const [only] = from;
  if (!object || only === undefined) return {};
  const subsets = object['subsets'];
  if (from.length === 1) return { [only]: Array.isArray(subsets) ? subsets : [] };
  try {
    const value: unknown = JSON.parse(textAt(object.metadata, 'annotations', reflectedPartsAnnotation) ?? '');
    if (!isRecord(value)) return {};
    const known = Object.entries(value).filter(([name, part]) => from.includes(name) && Array.isArray(part));
    return Object.fromEntries(known) as Record<string, unknown[]>;
  } catch {
    return {};
  }
}
