import { records, text } from '../defaults/json.ts';
import type { Field } from './field.ts';
import { endpointAddress, isAddress } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { dns1123Label, oneOf, portNumber } from './rules.ts';
import { protocols } from './service.ts';

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
};
