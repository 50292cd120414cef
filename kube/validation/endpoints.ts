import { records, strings, text } from '../defaults/json.ts';
import type { Field } from './field.ts';
import { endpointAddress, isAddress } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { dns1123Label, dns1123Subdomain, immutable, oneOf, portNumber } from './rules.ts';
import { protocols } from './service.ts';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];

const endpointSlice: KindCheck = ({ object, old }, root) => {
  const type = text(object['addressType']);
  oneOf(object['addressType'], addressTypes, root.child('addressType'));
  const list = records(object['endpoints']);
  if (list.length > 1000) root.child('endpoints').tooMany(list.length, 1000);
  for (const [index, endpoint] of list.entries()) {
    const path = root.child('endpoints').index(index);
    const addresses = strings(endpoint['addresses']);
    if (addresses.length === 0) path.child('addresses').required('must contain at least 1 address');
    if (addresses.length > 100) path.child('addresses').tooMany(addresses.length, 100);
    for (const [i, address] of addresses.entries()) {
      const at = path.child('addresses').index(i);
      if (type === 'FQDN') dns1123Subdomain(address, at);
      else if (addressTypes.includes(type)) endpointAddress(address, at);
    }
  }
  const names = new Set<string>();
  for (const [index, port] of records(object['ports']).entries()) {
    const path = root.child('ports').index(index);
    const name = text(port['name']);
    if (name) dns1123Label(name, path.child('name'));
    if (names.has(name)) path.child('name').duplicate(name);
    names.add(name);
    oneOf(port['protocol'], protocols, path.child('protocol'));
    if (port['port'] !== undefined) portNumber(port['port'], path.child('port'));
  }
  if (old && old['addressType'] !== type) root.child('addressType').invalid(type, immutable);
};

/** An address that is none is told twice, in two ways. */
function subsetAddress(value: string, field: Field): void {
  endpointAddress(value, field);
  if (!isAddress(value)) field.invalid(value, 'must be a valid IP address');
}

const endpoints: KindCheck = ({ object }, root) => {
  for (const [index, subset] of records(object['subsets']).entries()) {
    const path = root.child('subsets').index(index);
    const ready = records(subset['addresses']);
    const waiting = records(subset['notReadyAddresses']);
    const ports = records(subset['ports']);
    if (ready.length + waiting.length === 0) path.required('must specify `addresses` or `notReadyAddresses`');
    for (const [name, list] of Object.entries({ addresses: ready, notReadyAddresses: waiting })) {
      for (const [i, address] of list.entries())
        subsetAddress(text(address['ip']), path.child(name).index(i).child('ip'));
    }
    for (const [i, port] of ports.entries()) {
      const at = path.child('ports').index(i);
      const name = text(port['name']);
      if (!name && ports.length > 1) at.child('name').required();
      else if (name) dns1123Label(name, at.child('name'));
      portNumber(port['port'], at.child('port'));
      oneOf(port['protocol'], protocols, at.child('protocol'));
    }
  }
};

export const endpointChecks: KindChecks = {
  '/Endpoints': endpoints,
  'discovery.k8s.io/EndpointSlice': endpointSlice,
};
