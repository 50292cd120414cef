import { sameJson } from '../deep.ts';
import type { JsonObject } from '../object.ts';
import { records, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { endpointAddress, isAddress } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { dns1123Label, dns1123Subdomain, oneOf, portNumber, qualifiedName } from './rules.ts';
import { protocols } from './service.ts';

/** An address that is none is told twice, in two ways. */
function subsetAddress(value: string, field: Field): void {
  endpointAddress(value, field);
  if (!isAddress(value)) field.invalid(value, 'must be a valid IP address');
}

function endpointAddressOf(address: JsonObject, field: Field): void {
  const { hostname, nodeName } = address;
  if (text(hostname)) dns1123Label(text(hostname), field.child('hostname'));
  if (typeof nodeName === 'string') dns1123Subdomain(nodeName, field.child('nodeName'));
  subsetAddress(text(address['ip']), field.child('ip'));
}

const endpoints: KindCheck = ({ object, old }, root) => {
  // What older versions of Kubernetes took may stay.
  if (old && sameJson(object['subsets'], old['subsets'])) return;
  for (const [index, subset] of records(object['subsets']).entries()) {
    const path = root.child('subsets').index(index);
    const ready = records(subset['addresses']);
    const waiting = records(subset['notReadyAddresses']);
    const ports = records(subset['ports']);
    if (ready.length + waiting.length === 0) path.required('must specify `addresses` or `notReadyAddresses`');
    for (const [name, list] of Object.entries({ addresses: ready, notReadyAddresses: waiting })) {
      for (const [i, address] of list.entries()) endpointAddressOf(address, path.child(name).index(i));
    }
    for (const [i, port] of ports.entries()) {
      const at = path.child('ports').index(i);
      const name = text(port['name']);
      if (!name && ports.length > 1) at.child('name').required();
      else if (name) dns1123Label(name, at.child('name'));
      portNumber(port['port'], at.child('port'));
      oneOf(port['protocol'], protocols, at.child('protocol'));
      if (typeof port['appProtocol'] === 'string')
        qualifiedName(port['appProtocol'], at.child('appProtocol'));
    }
  }
};

export const endpointChecks: KindChecks = {
  '/Endpoints': endpoints,
};
