import { sameJson } from '../deep.ts';
import { validateDns1123Label, validateDns1123Subdomain, validateLabelValue } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, isRecord, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { canonicalAddressMessages, endpointAddress } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labels } from './labels.ts';
import { dns1123Label, dns1123Subdomain, immutable, oneOf, qualifiedName } from './rules.ts';
import { protocols } from './service.ts';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const most = { endpoints: 1000, addresses: 100, ports: 20_000, hints: 8, topologyLabels: 16 };

function domainName(given: string, field: Field): void {
  if (!given) {
    field.required();
    return;
  }
  const name = given.endsWith('.') ? given.slice(0, -1) : given;
  const messages = validateDns1123Subdomain(name);
  if (messages.length > 0) {
    field.invalid(name, messages.join(','));
    return;
  }
  const segments = name.split('.');
  if (segments.length < 2) {
    field.invalid(name, 'should be a domain with at least two segments separated by dots');
    return;
  }
  const bad = segments.find((segment) => validateDns1123Label(segment).length > 0);
  if (bad !== undefined) field.invalid(bad, validateDns1123Label(bad).join(','));
}

function address(value: string, type: string, list: Field, index: number): void {
  const field = list.index(index);
  if (type === 'FQDN') domainName(value, field);
  else if (type === 'IPv6') {
    const messages = canonicalAddressMessages(value);
    field.invalidAll(value, messages);
    if (messages.length > 0) return;
    if (!value.includes(':')) list.invalid(value, 'must be an IPv6 address');
    endpointAddress(value, field);
  } else if (type === 'IPv4') {
    const before = field.causes.length;
    endpointAddress(value, field);
    if (field.causes.length === before && value.includes(':')) list.invalid(value, 'must be an IPv4 address');
  }
}

function hints(value: JsonObject, field: Field): void {
  const names = (list: string) => records(value[list]).map((hint) => text(hint['name']));
  const [zones, nodes] = [names('forZones'), names('forNodes')];
  if (zones.length > most.hints) {
    field.child('forZones').tooMany(zones.length, most.hints);
    return;
  }
  for (const [index, zone] of zones.entries()) {
    const path = field.child('forZones').index(index).child('name');
    if (zones.indexOf(zone) < index) path.duplicate(zone);
    path.invalidAll(zone, validateLabelValue(zone));
  }
  if (nodes.length > most.hints) {
    field.child('forNodes').tooMany(nodes.length, most.hints);
    return;
  }
  for (const [index, node] of nodes.entries()) {
    const path = field.child('forNodes').index(index).child('name');
    if (nodes.indexOf(node) < index) path.duplicate(node);
    dns1123Subdomain(node, path);
  }
}

function endpoint(value: JsonObject, type: string, field: Field): void {
  const addresses = strings(value['addresses']);
  const path = field.child('addresses');
  if (addresses.length === 0) path.required('must contain at least 1 address');
  else if (addresses.length > most.addresses) path.tooMany(addresses.length, most.addresses);
  for (const [index, one] of addresses.entries()) address(one, type, path, index);
  const { nodeName, hostname } = value;
  if (typeof nodeName === 'string') dns1123Subdomain(nodeName, field.child('nodeName'));
  const topology = value['deprecatedTopology'];
  const size = isRecord(topology) ? Object.keys(topology).length : 0;
  if (size > most.topologyLabels) field.child('deprecatedTopology').tooMany(size, most.topologyLabels);
  labels(topology, field.child('deprecatedTopology'));
  if (typeof hostname === 'string') dns1123Label(hostname, field.child('hostname'));
  if (isRecord(value['hints'])) hints(value['hints'], field.child('hints'));
}

function ports(value: unknown, field: Field): void {
  const list = records(value);
  if (list.length > most.ports) {
    field.tooMany(list.length, most.ports);
    return;
  }
  const names = new Set<string>();
  for (const [index, port] of list.entries()) {
    const path = field.index(index);
    const name = text(port['name']);
    if (name) dns1123Label(name, path.child('name'));
    if (names.has(name)) path.child('name').duplicate(name);
    names.add(name);
    const protocol = port['protocol'];
    if (protocol === undefined || protocol === null) path.child('protocol').required();
    else if (!protocols.includes(text(protocol))) path.child('protocol').notSupported(protocol, protocols);
    const application = port['appProtocol'];
    if (typeof application === 'string') qualifiedName(application, path.child('appProtocol'));
  }
}

/** https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/ */
const endpointSlice: KindCheck = ({ object, old }, root) => {
  const type = text(object['addressType']);
  oneOf(object['addressType'], addressTypes, root.child('addressType'));
  ports(object['ports'], root.child('ports'));
  const list = records(object['endpoints']);
  if (!old || !sameJson(at(object, 'endpoints'), at(old, 'endpoints'))) {
    if (list.length > most.endpoints) root.child('endpoints').tooMany(list.length, most.endpoints);
    else for (const [index, one] of list.entries()) endpoint(one, type, root.child('endpoints').index(index));
  }
  if (old && old['addressType'] !== type) root.child('addressType').invalid(type, immutable);
};

export const endpointSliceChecks: KindChecks = { 'discovery.k8s.io/EndpointSlice': endpointSlice };
