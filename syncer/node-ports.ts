import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { isRecord, listAt, numberAt } from '../kube/untyped.ts';

const field = /^spec\.ports\[(\d+)\]\.nodePort$/;
const healthKey = 'healthCheckNodePort';
const healthField = `spec.${healthKey}`;
/** All that an API server says of one that is taken: its status tells of no field. */
const healthTaken = /failed to allocate requested HealthCheck NodePort/i;

/** A Service without the ports of nodes that a cluster cannot give, where that is all that it finds wrong; undefined: it is not. */
export function withoutRefusedPorts(error: unknown, manifest: KubeObject): KubeObject | undefined {
  const fields = manifest.kind === 'Service' ? fieldsRefused(error) : [];
  const ports = listAt(manifest, 'spec', 'ports').map((port) => (isRecord(port) ? { ...port } : port));
  const spec: Record<string, unknown> = { ...(manifest['spec'] as object), ports };
  let isLess = false;
  for (const name of fields) {
    const index = field.exec(name)?.[1];
    const [of, key] = index ? [ports[Number(index)], 'nodePort'] : [name === healthField && spec, healthKey];
    if (!isRecord(of)) return undefined;
    isLess ||= key in of;
    delete of[key];
  }
  return isLess ? { ...manifest, spec } : undefined;
}

/** An empty name: it finds something else wrong. */
function fieldsRefused(error: unknown): string[] {
  if (isStatusError(error, 'Invalid')) return (error.details?.causes ?? []).map((cause) => cause.field ?? '');
  return error instanceof StatusError && error.code === 500 && healthTaken.test(error.message)
    ? [healthField]
    : [];
}

/** Which ports of nodes were asked for, and which others are there instead, as a sentence; undefined: none. */
export function otherPorts(manifest: KubeObject, written: KubeObject): string | undefined {
  if (manifest.kind !== 'Service') return undefined;
  const there = listAt(written, 'spec', 'ports');
  const asked = listAt(manifest, 'spec', 'ports').map((port, i) => [
    numberAt(port, 'nodePort'),
    numberAt(there[i], 'nodePort'),
  ]);
  const health = [manifest, written].map((of) => numberAt(of, 'spec', healthKey));
  const others = [...asked, health].flatMap(([wanted, given]) =>
    wanted === undefined || wanted === given ? [] : [`${given ?? 'none'} instead of ${wanted}`],
  );
  return others.length > 0
    ? `the cluster cannot give the node ports that are asked for: ${others.join(', ')}`
    : undefined;
}
