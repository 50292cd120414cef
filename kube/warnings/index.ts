import type { JsonObject, KubeObject } from '../object.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { definitionWarnings } from './definition.ts';
import { driverWarnings } from './driver.ts';
import { endpointSliceWarnings } from './endpoint-slice.ts';
import type { KindWarnings } from './kind.ts';
import { workloadWarnings } from './kinds.ts';
import { oldWays } from './old-ways.ts';

/** By `<group>/<kind>`, core's group empty. */
const warnings: Readonly<Record<string, KindWarnings>> = {
  ...workloadWarnings,
  ...oldWays,
  'apiextensions.k8s.io/CustomResourceDefinition': definitionWarnings,
  'storage.k8s.io/CSIDriver': driverWarnings,
  'discovery.k8s.io/EndpointSlice': endpointSliceWarnings,
};

/**
 * The warnings of kube-apiserver about a valid `object` of a built-in kind, for the Warning header (RFC 7234), in its
 * order. Writes to subresources have none.
 */
export function warningsOf(object: KubeObject, old: KubeObject | undefined, info: KindInfo): string[] {
  const key = `${info.group}/${info.kind}`;
  if (!Object.hasOwn(warnings, key)) return [];
  return warnings[key]?.(object as unknown as JsonObject, old as unknown as JsonObject | undefined) ?? [];
}
