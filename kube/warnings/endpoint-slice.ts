import { at, records, strings } from '../untyped.ts';
import { addressWarnings } from './ip.ts';
import type { KindWarnings } from './kind.ts';

const managers = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

export const endpointSliceWarnings: KindWarnings = (object, old) => {
  const fqdn = !old && object['addressType'] === 'FQDN';
  const warnings = fqdn ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  const manager = at(object, 'metadata', 'labels', 'endpointslice.kubernetes.io/managed-by');
  if (typeof manager === 'string' && managers.includes(manager)) return warnings;
  for (const [i, endpoint] of records(object['endpoints']).entries()) {
    for (const [j, address] of strings(endpoint['addresses']).entries())
      warnings.push(...addressWarnings(address, `endpoints[${i}].addresses[${j}]`));
  }
  return warnings;
};
