import { at, isRecord, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { dns1123Label, dns1123Subdomain } from '../rules.ts';
import type { ByName } from './health.ts';

const ofContainer = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';
const ofRequest =
  'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';

/** The claim that was made for what containers ask for by the name of a resource. */
export function extendedClaim(status: unknown, containers: ByName, field: Field): void {
  if (!isRecord(status)) return;
  const mappings = records(status['requestMappings']);
  const list = field.child('requestMappings');
  if (mappings.length === 0) list.required('at least one request mapping is required');
  const seen = new Set<string>();
  for (const [i, mapping] of mappings.entries()) {
    const path = list.index(i);
    const [container, resource, request] = names.map((name) => text(mapping[name])) as [
      string,
      string,
      string,
    ];
    if (!containers.has(container)) path.child('containerName').invalid(container, ofContainer);
    else if (at(containers.get(container), 'resources', 'requests', resource) === undefined)
      path.child('resourceName').invalid(resource, ofRequest);
    dns1123Label(request, field.child('requestName'));
    const key = JSON.stringify([container, resource, request]);
    if (seen.has(key)) for (const name of names) path.child(name).duplicate(text(mapping[name]));
    seen.add(key);
  }
  const name = text(status['resourceClaimName']);
  if (name === '') field.child('resourceClaimName').required();
  else dns1123Subdomain(name, field.child('resourceClaimName'));
}

const names = ['containerName', 'resourceName', 'requestName'] as const;
