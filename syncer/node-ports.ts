import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { isRecord, listAt, numberAt } from '../kube/untyped.ts';

const field = /^spec\.ports\[(\d+)\]\.nodePort$/;

/** A Service without the node ports that a cluster cannot give, where that is all that it finds wrong; undefined: it is not. */
export function withoutRefusedPorts(error: unknown, manifest: KubeObject): KubeObject | undefined {
  if (manifest.kind !== 'Service' || !isStatusError(error, 'Invalid')) return undefined;
  const found = (error.details?.causes ?? []).map((cause) => field.exec(cause.field ?? '')?.[1]);
  if (found.length === 0 || found.includes(undefined)) return undefined;
  const refused = new Set(found.map(Number));
  const ports = listAt(manifest, 'spec', 'ports').map((port, i) => {
    if (!refused.has(i) || !isRecord(port)) return port;
    const { nodePort: _, ...rest } = port;
    return rest;
  });
  return { ...manifest, spec: { ...(manifest['spec'] as object), ports } };
}

/** Which node ports were asked for, and which others are there instead, as a sentence; undefined: none. */
export function otherPorts(manifest: KubeObject, written: KubeObject): string | undefined {
  if (manifest.kind !== 'Service') return undefined;
  const there = listAt(written, 'spec', 'ports');
  const others = listAt(manifest, 'spec', 'ports').flatMap((port, i) => {
    const [asked, given] = [numberAt(port, 'nodePort'), numberAt(there[i], 'nodePort')];
    return asked === undefined || asked === given ? [] : [`${given ?? 'none'} instead of ${asked}`];
  });
  return others.length > 0
    ? `the cluster cannot give the node ports that are asked for: ${others.join(', ')}`
    : undefined;
}
