import { given } from '../defaults/empty.ts';
import {
  maxCharactersMessage,
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePathSegmentName,
} from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, int, isRecord, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { cidr, isAddress, parseRange, strictlyWithin } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector } from './labels.ts';
import { dns1123Subdomain, immutable, portNameMessages, portNumber } from './rules.ts';

function hostName(host: string, field: Field): void {
  if (!host.includes('*')) {
    field.invalidAll(host, validateDns1123Subdomain(host));
    return;
  }
  if (host.length > 253) field.invalid(host, maxCharactersMessage(253));
  const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
  const pattern = `\\*\\.${label}(\\.${label})*`;
  if (new RegExp(`^${pattern}$`).test(host)) return;
  const rule =
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
  field.invalid(host, `${rule} (e.g. '*.example.com', regex used for validation is '${pattern}')`);
}

const badSequences = ['//', '/./', '/../', '%2f', '%2F'];
const badSuffixes = ['/..', '/.'];
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

function httpPath(path: JsonObject, field: Field): void {
  const type = path['pathType'];
  if (type === undefined || type === null) {
    field.child('pathType').required('pathType must be specified');
    return;
  }
  const value = text(path['path']);
  const at = field.child('path');
  if (type === 'Exact' || type === 'Prefix') {
    if (!value.startsWith('/')) at.invalid(value, 'must be an absolute path');
    for (const bad of badSequences) if (value.includes(bad)) at.invalid(value, `must not contain '${bad}'`);
    for (const bad of badSuffixes) if (value.endsWith(bad)) at.invalid(value, `cannot end with '${bad}'`);
  } else if (type === 'ImplementationSpecific') {
    if (value && !value.startsWith('/')) at.invalid(value, 'must be an absolute path');
  } else field.child('pathType').notSupported(type, pathTypes);
  backend(path['backend'], field.child('backend'));
}

function backend(value: unknown, field: Field): void {
  const service = at(value, 'service');
  const resource = at(value, 'resource');
  if (isRecord(service) && isRecord(resource)) {
    field.invalid('', 'cannot set both resource and service backends');
    return;
  }
  if (isRecord(resource)) {
    resourceBackend(resource, field.child('resource'));
    return;
  }
  if (!isRecord(service)) {
    field.invalid('', 'resource or service backend is required');
    return;
  }
  const name = text(service['name']);
  if (!name) field.child('service', 'name').required();
  else field.child('service', 'name').invalidAll(name, validateDns1123Label(name));
  const portName = text(at(service, 'port', 'name'));
  const number = int(at(service, 'port', 'number'));
  if (portName && number !== 0) field.invalid('', 'cannot set both port name & port number');
  else if (portName) field.child('service', 'port', 'name').invalidAll(portName, portNameMessages(portName));
  else if (number !== 0) portNumber(number, field.child('service', 'port', 'number'));
  else field.required('port name or number is required');
}

function resourceBackend(resource: JsonObject, field: Field): void {
  const group = resource['apiGroup'];
  if (typeof group === 'string') dns1123Subdomain(group, field.child('apiGroup'));
  for (const name of ['kind', 'name']) {
    const value = text(resource[name]);
    if (!value) field.child(name).required();
    else field.child(name).invalidAll(value, validatePathSegmentName(value));
  }
}

const classAnnotation = 'kubernetes.io/ingress.class';

const ingress: KindCheck = ({ object, spec, old }, root) => {
  const field = root.child('spec');
  const rules = records(spec['rules']);
  if (rules.length === 0 && !isRecord(spec['defaultBackend'])) {
    field.invalid(given(spec, 'rules'), 'either `defaultBackend` or `rules` must be specified');
  }
  if (isRecord(spec['defaultBackend'])) backend(spec['defaultBackend'], field.child('defaultBackend'));
  for (const [index, rule] of rules.entries()) {
    const path = field.child('rules').index(index);
    const host = text(rule['host']);
    if (isAddress(host)) path.child('host').invalid(host, 'must be a DNS name, not an IP address');
    if (host) hostName(host, path.child('host'));
    if (!isRecord(rule['http'])) continue;
    const paths = records(at(rule, 'http', 'paths'));
    if (paths.length === 0) path.child('http', 'paths').required();
    for (const [i, one] of paths.entries()) httpPath(one, path.child('http', 'paths').index(i));
  }
  for (const [index, tls] of records(spec['tls']).entries()) {
    const path = field.child('tls').index(index);
    for (const [i, host] of strings(tls['hosts']).entries()) hostName(host, path.child('hosts').index(i));
    const secret = text(tls['secretName']);
    if (secret) dns1123Subdomain(secret, path.child('secretName'));
  }
  const className = spec['ingressClassName'];
  if (typeof className === 'string') dns1123Subdomain(className, field.child('ingressClassName'));
  const annotated = at(object, 'metadata', 'annotations', classAnnotation);
  if (!old && annotated !== undefined && className !== undefined && annotated !== className) {
    const path = root.child('annotations', classAnnotation);
    path.invalid(annotated, 'must match `ingressClassName` when both are specified');
  }
};

const ingressClass: KindCheck = ({ spec, oldSpec }, root) => {
  const field = root.child('spec');
  const controller = text(spec['controller']);
  const path = field.child('controller');
  if (oldSpec && oldSpec['controller'] !== controller) path.invalid(controller, immutable);
  if (controller.length > 250) path.tooLong(250);
  if (!controller) path.required();
  else if (!/^[^/]+\/.+$/.test(controller)) {
    path.invalid(controller, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else {
    const host = controller.split('/')[0] ?? '';
    path.invalidAll(host, validateDns1123Subdomain(host));
  }
  const parameters = spec['parameters'];
  if (!isRecord(parameters)) return;
  resourceBackend(parameters, field.child('parameters'));
  const scope = parameters['scope'];
  const scopes = ['Cluster', 'Namespace'];
  if (!scopes.includes(text(scope))) field.child('parameters', 'scope').notSupported(scope, scopes);
  const namespace = field.child('parameters', 'namespace');
  if (scope === 'Namespace' && typeof parameters['namespace'] !== 'string') {
    namespace.required("`parameters.scope` is set to 'Namespace'");
  }
  if (scope === 'Namespace' && typeof parameters['namespace'] === 'string')
    namespace.invalidAll(parameters['namespace'], validateDns1123Label(parameters['namespace']));
  if (scope === 'Cluster' && parameters['namespace'] !== undefined) {
    namespace.forbidden("`parameters.scope` is set to 'Cluster'");
  }
};

const protocols = ['TCP', 'UDP', 'SCTP'];

function policyPort(port: JsonObject, field: Field): void {
  const protocol = port['protocol'];
  if (protocol !== undefined && !protocols.includes(text(protocol))) {
    field.child('protocol').notSupported(protocol, protocols);
  }
  const value = port['port'];
  const end = port['endPort'];
  const path = field.child('endPort');
  if (typeof value === 'number') {
    portNumber(value, field.child('port'));
    if (typeof end !== 'number') return;
    if (end < value) path.invalid(value, 'must be greater than or equal to `port`');
    portNumber(end, path);
  } else if (typeof value === 'string') {
    if (end !== undefined) path.invalid(end, 'may not be specified when `port` is non-numeric');
    field.child('port').invalidAll(value, portNameMessages(value));
  } else if (end !== undefined) path.invalid(end, 'may not be specified when `port` is not specified');
}

function policyPeer(peer: JsonObject, field: Field): void {
  labelSelector(peer['podSelector'], field.child('podSelector'));
  labelSelector(peer['namespaceSelector'], field.child('namespaceSelector'));
  const block = peer['ipBlock'];
  if (isRecord(block)) ipBlock(block, field.child('ipBlock'));
  const count = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((name) => isRecord(peer[name])).length;
  if (count === 0) field.required('must specify a peer');
  else if (count > 1 && isRecord(block)) field.forbidden('may not specify both ipBlock and another peer');
}

function ipBlock(block: JsonObject, field: Field): void {
  const whole = text(block['cidr']);
  if (!whole) {
    field.child('cidr').required();
    return;
  }
  cidr(whole, field.child('cidr'));
  const outer = parseRange(whole);
  if (!outer) return;
  for (const [index, except] of strings(block['except']).entries()) {
    const path = field.child('except').index(index);
    cidr(except, path);
    const inner = parseRange(except);
    if (inner && !strictlyWithin(inner, outer)) path.invalid(except, 'must be a strict subset of `cidr`');
  }
}

const networkPolicy: KindCheck = ({ spec }, root) => {
  const field = root.child('spec');
  labelSelector(spec['podSelector'], field.child('podSelector'));
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [index, rule] of records(spec[direction]).entries()) {
      const path = field.child(direction).index(index);
      for (const [i, port] of records(rule['ports']).entries())
        policyPort(port, path.child('ports').index(i));
      for (const [i, peer] of records(rule[peers]).entries()) policyPeer(peer, path.child(peers).index(i));
    }
  }
  const types = strings(spec['policyTypes']);
  const path = field.child('policyTypes');
  if (types.length > 2) return path.invalid(types, 'may not specify more than two policyTypes');
  for (const [index, type] of types.entries()) {
    if (type !== 'Ingress' && type !== 'Egress') path.index(index).notSupported(type, ['Ingress', 'Egress']);
  }
};

export const networkingChecks: KindChecks = {
  'networking.k8s.io/Ingress': ingress,
  'networking.k8s.io/IngressClass': ingressClass,
  'networking.k8s.io/NetworkPolicy': networkPolicy,
};
