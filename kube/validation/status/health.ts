import { at, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';

const states = ['Healthy', 'Unhealthy', 'Unknown'];
const longestMessage = 1024;
const ofClaims =
  "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
const ofRequests = "must match one of the container's resource requests";

/** How the devices of containers are. `containers`: of the Pod's, by name; undefined: none has devices. */
export function deviceHealth(statuses: unknown, containers: ByName | undefined, field: Field): void {
  for (const [i, status] of records(statuses).entries()) {
    const path = field.index(i).child('allocatedResourcesStatus');
    const resources = records(status['allocatedResourcesStatus']);
    if (containers === undefined) {
      if (resources.length > 0) path.forbidden('must not be specified in container status');
      continue;
    }
    const container = containers.get(text(status['name']));
    for (const [j, { name, resources: devices }] of resources.entries()) {
      if (container !== undefined) known(text(name), container, path.index(j).child('name'));
      told(devices, path.index(j).child('resources'));
    }
  }
}

export type ByName = ReadonlyMap<string, unknown>;

function known(name: string, container: unknown, field: Field): void {
  if (!name.startsWith('claim:')) {
    const requests = Object.keys(at(container, 'resources', 'requests') ?? {});
    if (!requests.includes(name)) field.invalid(name, ofRequests);
    return;
  }
  const claims = records(at(container, 'resources', 'claims')).map(
    (claim) => `claim:${text(claim['name'])}${text(claim['request']) && `/${text(claim['request'])}`}`,
  );
  if (!claims.includes(name)) field.invalid(name, ofClaims);
}

function told(devices: unknown, field: Field): void {
  const seen = new Set<string>();
  for (const [k, { resourceID, health, message }] of records(devices).entries()) {
    const path = field.index(k);
    if (!states.includes(text(health))) path.child('health').notSupported(text(health), states);
    if (message === '') path.child('message').required('must be non-empty if specified');
    if (Buffer.byteLength(text(message)) > longestMessage) path.child('message').tooLong(longestMessage);
    const id = text(resourceID);
    if (seen.has(id)) path.child('resourceID').duplicate(id);
    seen.add(id);
  }
}
