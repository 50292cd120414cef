import { sameJson } from '../deep.ts';
import type { JsonObject } from '../object.ts';
import type { StatusCause } from '../status.ts';
import { at, int, records, strings, text } from '../untyped.ts';
import { Field } from './field.ts';
import { cidr, endpointAddress, ipAddress, isAddress } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labels } from './labels.ts';
import {
  dns1123Label,
  dns1123Subdomain,
  inclusiveRange,
  oneOf,
  portNumber,
  portNumberOrName,
  qualifiedName,
} from './rules.ts';

export const protocols = ['SCTP', 'TCP', 'UDP'];
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** A port of a Service: needs a name when it has siblings. */
function servicePort(port: JsonObject, alone: boolean, names: Set<string>, field: Field): void {
  const name = text(port['name']);
  if (!name && !alone) field.child('name').required();
  else if (name) {
    dns1123Label(name, field.child('name'));
    if (names.has(name)) field.child('name').duplicate(name);
    names.add(name);
  }
  portNumber(port['port'], field.child('port'));
  oneOf(port['protocol'], protocols, field.child('protocol'));
  portNumberOrName(port['targetPort'], field.child('targetPort'));
  const application = port['appProtocol'];
  if (typeof application === 'string') qualifiedName(application, field.child('appProtocol'));
}

function portConflicts(spec: JsonObject, field: Field): void {
  const ports = records(spec['ports']);
  if (spec['type'] === 'ClusterIP') {
    for (const [index, port] of ports.entries()) {
      if (int(port['nodePort']) === 0) continue;
      field.index(index).child('nodePort').forbidden("may not be used when `type` is 'ClusterIP'");
    }
  }
  const nodePorts = new Set<string>();
  const used = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const node = int(port['nodePort']);
    const key = `${text(port['protocol'])}/${node}`;
    if (node !== 0 && nodePorts.has(key)) field.index(index).child('nodePort').duplicate(node);
    nodePorts.add(key);
  }
  for (const [index, port] of ports.entries()) {
    const protocol = text(port['protocol']);
    const key = `${protocol}/${int(port['port'])}`;
    if (used.has(key)) {
      // The duplicate is the internal struct, whose fields have Go's names.
      const internal = {
        Name: '',
        Protocol: protocol,
        AppProtocol: null,
        Port: int(port['port']),
        TargetPort: 0,
        NodePort: 0,
      };
      field.index(index).duplicate(internal);
    }
    used.add(key);
  }
}

function typeRules(spec: JsonObject, headless: boolean, field: Field): void {
  const type = text(spec['type']);
  if (headless && (type === 'LoadBalancer' || type === 'NodePort')) {
    field.child('clusterIPs').index(0).invalid('None', `may not be set to 'None' for ${type} services`);
  }
  if (type !== 'ExternalName') return;
  for (const name of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    if (spec[name] !== undefined) field.child(name).forbidden('may not be set for ExternalName services');
  }
  const target = text(spec['externalName']).replace(/\.$/, '');
  if (target) dns1123Subdomain(target, field.child('externalName'));
  else field.child('externalName').required();
}

function affinity(spec: JsonObject, field: Field): void {
  const kind = spec['sessionAffinity'];
  oneOf(kind, ['ClientIP', 'None'], field.child('sessionAffinity'));
  if (kind !== 'ClientIP') return;
  const seconds = int(at(spec, 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds'));
  if (seconds > 0 && seconds <= 86_400) return;
  const path = field.child('sessionAffinityConfig', 'clientIP', 'timeoutSeconds');
  path.invalid(seconds, 'must be greater than 0 and less than 86400');
}

function clusterAddresses(spec: JsonObject, field: Field): void {
  if (spec['type'] === 'ExternalName') return;
  const single = text(spec['clusterIP']);
  const all = strings(spec['clusterIPs']);
  const path = field.child('clusterIPs');
  if (!single && all.length > 0) path.invalid(all, 'must be empty when `clusterIP` is not specified');
  if (single && all.length > 0 && all[0] !== single) path.invalid(all, 'first value must match `clusterIP`');
  const seen = new Set<string>();
  for (const [index, family] of strings(spec['ipFamilies']).entries()) {
    const at = field.child('ipFamilies').index(index);
    if (!families.includes(family)) at.notSupported(family, families);
    if (seen.has(family)) at.duplicate(family);
    seen.add(family);
  }
  const policy = spec['ipFamilyPolicy'];
  if (policy !== undefined && !policies.includes(text(policy))) {
    field.child('ipFamilyPolicy').notSupported(policy, policies);
  }
  const addresses = all.length > 0 ? all : single ? [single] : [];
  if (addresses[0] === 'None') {
    if (addresses.length > 1) path.invalid(addresses, "'None' must be the first and only value");
    return;
  }
  for (const [index, address] of addresses.entries()) ipAddress(address, path.index(index));
  if (addresses.length > 2) path.invalid(addresses, 'may only hold up to 2 values');
  const kinds = new Set(addresses.filter(isAddress).map((address) => address.includes(':')));
  if (addresses.length === 2 && addresses.every(isAddress) && kinds.size === 1) {
    path.invalid(addresses, 'may specify no more than one IP for each IP family');
  }
}

function loadBalancer(object: JsonObject, spec: JsonObject, root: Field): void {
  const field = root.child('spec');
  const balanced = spec['type'] === 'LoadBalancer';
  const only = "may only be used when `type` is 'LoadBalancer'";
  const ranges = strings(spec['loadBalancerSourceRanges']);
  const annotated = at(
    object,
    'metadata',
    'annotations',
    'service.beta.kubernetes.io/load-balancer-source-ranges',
  );
  if (ranges.length > 0) {
    const path = field.child('LoadBalancerSourceRanges');
    if (!balanced) path.forbidden(only);
    for (const [index, range] of ranges.entries()) cidr(range.trim(), path.index(index));
  } else if (typeof annotated === 'string') {
    const path = root
      .child('metadata', 'annotations')
      .key('service.beta.kubernetes.io/load-balancer-source-ranges');
    if (!balanced) path.forbidden(only);
    if (annotated.trim()) for (const range of annotated.trim().split(',')) cidr(range.trim(), path);
  }
  if (spec['allocateLoadBalancerNodePorts'] !== undefined && !balanced) {
    field.child('allocateLoadBalancerNodePorts').forbidden(only);
  }
  const className = spec['loadBalancerClass'];
  if (className === undefined) return;
  if (!balanced) field.child('loadBalancerClass').forbidden("may only be used when `type` is 'LoadBalancer'");
  else qualifiedName(text(className), field.child('loadBalancerClass'));
}

function traffic(spec: JsonObject, field: Field): void {
  const type = text(spec['type']);
  const reachable =
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && strings(spec['externalIPs']).length > 0);
  const external = text(spec['externalTrafficPolicy']);
  const path = field.child('externalTrafficPolicy');
  if (!reachable) {
    if (external) path.invalid(external, 'may only be set for externally-accessible services');
  } else oneOf(external, ['Cluster', 'Local'], path);
  const health = int(spec['healthCheckNodePort']);
  if (health !== 0 && !(type === 'LoadBalancer' && external === 'Local')) {
    const rule = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    field.child('healthCheckNodePort').invalid(health, rule);
  } else if (health !== 0 && (health < 1 || health > 65_535)) {
    field.child('healthCheckNodePort').invalid(health, inclusiveRange(1, 65_535));
  }
  const internal = spec['internalTrafficPolicy'];
  if (internal !== undefined && internal !== 'Cluster' && internal !== 'Local') {
    field.child('internalTrafficPolicy').notSupported(internal, ['Cluster', 'Local']);
  }
  const distribution = spec['trafficDistribution'];
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  if (distribution !== undefined && !distributions.includes(text(distribution))) {
    field.child('trafficDistribution').notSupported(distribution, distributions);
  }
}

const service: KindCheck = ({ object, spec, oldSpec }, root) => {
  const field = root.child('spec');
  if (oldSpec) {
    // On update addresses are looked at before all else, when they are allocated.
    const before = root.causes.length;
    clusterAddresses(spec, field);
    if (root.causes.length > before) return;
    addressesKept(spec, oldSpec, field);
  }
  const headless = spec['clusterIP'] === 'None' || strings(spec['clusterIPs'])[0] === 'None';
  const ports = records(spec['ports']);
  if (ports.length === 0 && !headless && spec['type'] !== 'ExternalName') field.child('ports').required();
  typeRules(spec, headless, field);
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    servicePort(port, ports.length === 1, names, field.child('ports').index(index));
  }
  labels(spec['selector'], field.child('selector'));
  affinity(spec, field);
  clusterAddresses(spec, field);
  for (const [index, address] of strings(spec['externalIPs']).entries()) {
    endpointAddress(address, field.child('externalIPs').index(index));
  }
  oneOf(spec['type'], types, field.child('type'));
  portConflicts(spec, field.child('ports'));
  loadBalancer(object, spec, root);
  traffic(spec, field);
};

/** What a Service was given stays, until it becomes an ExternalName. */
function addressesKept(spec: JsonObject, before: JsonObject, field: Field): void {
  if (spec['type'] === 'ExternalName' || before['type'] === 'ExternalName') return;
  const now = strings(spec['clusterIPs']);
  const was = strings(before['clusterIPs']);
  if (now[0] !== undefined && was[0] !== undefined && now[0] !== was[0]) {
    const path = field.child('clusterIPs').index(0);
    path.invalid(now, 'may not change once set');
  }
  const health = before['healthCheckNodePort'];
  if (health && spec['healthCheckNodePort'] && !sameJson(spec['healthCheckNodePort'], health)) {
    field.child('healthCheckNodePort').forbidden('field is immutable');
  }
  const className = before['loadBalancerClass'];
  const balanced = spec['type'] === 'LoadBalancer' && before['type'] === 'LoadBalancer';
  if (balanced && !sameJson(spec['loadBalancerClass'], className)) {
    field.child('loadBalancerClass').invalid(spec['loadBalancerClass'], 'may not change once set');
  }
}

/** What is wrong with the addresses and families of a Service that is not an ExternalName, before they are allocated. */
export function serviceAddressProblems(spec: JsonObject): StatusCause[] {
  const root = new Field([]);
  clusterAddresses(spec, root.child('spec'));
  return root.causes;
}

export const serviceChecks: KindChecks = {
  '/Service': service,
};
