import { validateDns1123Label, validateDns1123Subdomain } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, int, isRecord, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { fixedSpec } from './flow-fixed.ts';
import type { KindCheck, KindChecks } from './kind.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

function verbList(rule: JsonObject, field: Field): void {
  const given = strings(rule['verbs']);
  if (given.length === 0) field.required('verbs must contain at least one value');
  else if (given.includes('*')) {
    if (given.length > 1) field.invalid(given, "if '*' is present, must not specify other verbs");
  } else if (!given.every((verb) => verbs.includes(verb))) field.notSupported(given, verbs);
}

function list(rule: JsonObject, name: string, missing: string, what: string, field: Field): void {
  const given = strings(rule[name]);
  if (given.length === 0) field.child(name).required(missing);
  else if (given.length > 1 && given.includes('*')) {
    field.child(name).invalid(given, `if '*' is present, must not specify other ${what}`);
  }
}

function resourceRule(rule: JsonObject, field: Field): void {
  verbList(rule, field.child('verbs'));
  list(rule, 'apiGroups', 'resource rules must supply at least one api group', 'api groups', field);
  list(rule, 'resources', 'resource rules must supply at least one resource', 'resources', field);
  const namespaces = strings(rule['namespaces']);
  if (namespaces.length > 0 || rule['clusterScope'] !== true) {
    const missing = 'resource rules that are not cluster scoped must supply at least one namespace';
    list(rule, 'namespaces', missing, 'namespaces', field);
  }
  if (namespaces.includes('*')) return;
  for (const [index, namespace] of namespaces.entries()) {
    const messages = validateDns1123Label(namespace);
    const intro = "each member of this list must be '*' or a DNS-1123 label; ";
    field
      .child('namespaces')
      .index(index)
      .invalidAll(
        namespace,
        messages.map((message) => intro + message),
      );
  }
}

function otherRule(rule: JsonObject, field: Field): void {
  verbList(rule, field.child('verbs'));
  const missing = 'nonResourceURLs must contain at least one value';
  list(rule, 'nonResourceURLs', missing, 'non-resource URLs', field);
  const urls = strings(rule['nonResourceURLs']);
  if (urls.includes('*')) return;
  for (const [index, url] of urls.entries()) {
    const problem = urlProblem(url);
    if (problem) field.child('nonResourceURLs').index(index).invalid(url, problem);
  }
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const stars = url.split('*').length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith('/*'))
    ? 'wildcard can only do suffix matching'
    : undefined;
}

const kinds: Record<string, string> = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' };

function subject(one: JsonObject, field: Field): void {
  const kind = text(one['kind']);
  const own = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (own === undefined) {
    field.child('kind').notSupported(kind, ['Group', 'ServiceAccount', 'User']);
    return;
  }
  const value = one[own];
  if (!isRecord(value)) field.child(own).required(`${own} is required when subject kind is '${kind}'`);
  else {
    const name = text(value['name']);
    if (!name) field.child(own, 'name').required();
    else if (own === 'serviceAccount' && name !== '*') {
      field.child(own, 'name').invalidAll(name, validateDns1123Subdomain(name));
    }
    const namespace = text(value['namespace']);
    if (own === 'serviceAccount' && !namespace) {
      field.child(own, 'namespace').required('must specify namespace for service account');
    } else if (own === 'serviceAccount') {
      field.child(own, 'namespace').invalidAll(namespace, validateDns1123Label(namespace));
    }
  }
  for (const [other, name] of Object.entries(kinds)) {
    if (name === own || !isRecord(one[name])) continue;
    field.child(name).forbidden(`${name} is forbidden when subject kind is not '${other}'`);
  }
}

const flowSchema: KindCheck = ({ object, spec }, root) => {
  const field = root.child('spec');
  const precedence = int(spec['matchingPrecedence']);
  const path = field.child('matchingPrecedence');
  if (precedence <= 0) path.invalid(precedence, 'must be a positive value');
  if (precedence > 10_000) path.invalid(precedence, 'must not be greater than 10000');
  if (precedence === 1 && at(object, 'metadata', 'name') !== 'exempt') {
    path.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
  const method = spec['distinguisherMethod'];
  const methods = ['ByNamespace', 'ByUser'];
  if (isRecord(method) && !methods.includes(text(method['type']))) {
    field.child('distinguisherMethod', 'type').notSupported({ Type: text(method['type']) }, methods);
  }
  const level = text(at(spec, 'priorityLevelConfiguration', 'name'));
  const levelPath = field.child('priorityLevelConfiguration', 'name');
  if (!level) levelPath.required('must reference a priority level');
  else levelPath.invalidAll(level, validateDns1123Subdomain(level));
  for (const [index, rule] of records(spec['rules']).entries()) {
    const at = field.child('rules').index(index);
    const subjects = records(rule['subjects']);
    if (subjects.length === 0) at.child('subjects').required('subjects must contain at least one value');
    for (const [i, one] of subjects.entries()) subject(one, at.child('subjects').index(i));
    const resources = records(rule['resourceRules']);
    const others = records(rule['nonResourceRules']);
    if (resources.length + others.length === 0) {
      at.required('at least one of resourceRules and nonResourceRules has to be non-empty');
    }
    for (const [i, one] of resources.entries()) resourceRule(one, at.child('resourceRules').index(i));
    for (const [i, one] of others.entries()) otherRule(one, at.child('nonResourceRules').index(i));
  }
  fixedSpec('flowschemas', at(object, 'metadata', 'name'), spec, field);
};

export const flowChecks: KindChecks = { 'flowcontrol.apiserver.k8s.io/FlowSchema': flowSchema };
