import type { JsonObject } from '../../object.ts';
import { strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';

function wildcardAlone(rule: JsonObject, name: string, what: string, field: Field): string[] {
  const list = strings(rule[name]);
  if (list.length === 0) field.child(name).required();
  if (list.length > 1 && list.includes('*')) {
    field.child(name).invalid(list, `if '*' is present, must not specify other ${what}`);
  }
  return list;
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const mutableBy = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const ruleScopes = ['*', 'Cluster', 'Namespaced'];

/** What a webhook or a policy is asked about: operations, groups, versions, resources, scope. */
export function admissionRule(rule: JsonObject, field: Field): void {
  for (const [index, operation] of wildcardAlone(rule, 'operations', 'operations', field).entries()) {
    if (!operations.includes(operation))
      field.child('operations').index(index).notSupported(operation, operations);
  }
  wildcardAlone(rule, 'apiGroups', 'API groups', field);
  for (const [index, version] of wildcardAlone(rule, 'apiVersions', 'API versions', field).entries())
    if (!version) field.child('apiVersions').index(index).required();
  resources(strings(rule['resources']), field.child('resources'));
  const scope = rule['scope'];
  if (scope !== undefined && !ruleScopes.includes(text(scope)))
    field.child('scope').notSupported(scope, ruleScopes);
}

/** `resource`, `resource/subresource`, `*`, and wildcards on either side of the slash. */
function resources(list: readonly string[], field: Field): void {
  if (list.length === 0) field.required();
  const whole = new Set<string>();
  const everywhere = new Set<string>();
  let plain = false;
  for (const [index, name] of list.entries()) {
    if (!name) {
      field.index(index).required();
      continue;
    }
    const slash = name.indexOf('/');
    if (slash < 0) {
      plain = name !== '*';
      continue;
    }
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)];
    const already = (there: string) =>
      field.index(index).invalid(name, `if '${there}' is present, must not specify ${name}`);
    if (whole.has(resource)) already(`${resource}/*`);
    if (everywhere.has(subresource)) already(`*/${subresource}`);
    if (subresource === '*') whole.add(resource);
    if (resource === '*') everywhere.add(subresource);
  }
  if (list.length > 1 && list.includes('*/*'))
    field.invalid(list, "if '*/*' is present, must not specify other resources");
  if (list.includes('*') && plain)
    field.invalid(list, "if '*' is present, must not specify other resources without subresources");
}

/** A mutating policy has nothing to say about deletions. */
export function mutatingOperations(rules: readonly JsonObject[], field: Field): void {
  for (const rule of rules)
    for (const operation of strings(rule['operations']))
      if (!mutableBy.includes(operation)) field.child('operations').notSupported(operation, mutableBy);
}
