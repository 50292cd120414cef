import { at, isRecord, record, records, strings, text } from '../defaults/json.ts';
import { validateDns1035Label, validateDns1123Subdomain } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { sameJson } from '../strategy/equal.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { immutable } from './rules.ts';

const label = (value: string) => validateDns1035Label(value).join(',');

function resourceNames(names: JsonObject, field: Field): void {
  for (const name of ['plural', 'singular', 'kind', 'listKind'])
    if (!text(names[name])) field.child(name).required();
  for (const name of ['plural', 'singular']) {
    const value = text(names[name]);
    if (value && label(value)) field.child(name).invalid(value, label(value));
  }
  for (const name of ['kind', 'listKind']) {
    const value = text(names[name]);
    const error = value && label(value.toLowerCase());
    if (error) field.child(name).invalid(value, `may have mixed case, but should otherwise match: ${error}`);
  }
  for (const list of ['shortNames', 'categories']) {
    for (const [index, value] of strings(names[list]).entries()) {
      if (label(value)) field.child(list).index(index).invalid(value, label(value));
    }
    const same = list === 'shortNames' && text(names['kind']) && names['kind'] === names['listKind'];
    if (same) field.child('listKind').invalid(names['listKind'], 'kind and listKind may not be the same');
  }
}

/** The causes show Go's struct; what one version shares with all others stands elsewhere in it. */
function internalVersion(version: JsonObject): JsonObject {
  return {
    Name: text(version['name']),
    Served: version['served'] === true,
    Storage: version['storage'] === true,
    Deprecated: version['deprecated'] === true,
    DeprecationWarning: version['deprecationWarning'] ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function versions(spec: JsonObject, field: Field): void {
  const list = records(spec['versions']);
  for (const [index, version] of list.entries()) {
    if (isRecord(at(version, 'schema', 'openAPIV3Schema'))) continue;
    field.child('versions').index(index).child('schema', 'openAPIV3Schema').required();
  }
  for (const [index, version] of list.entries()) {
    const name = text(version['name']);
    if (label(name)) field.child('versions').index(index).child('name').invalid(name, label(name));
  }
  const names = list.map((version) => text(version['name']));
  if (new Set(names).size !== names.length) {
    field.child('versions').invalid(list.map(internalVersion), 'must contain unique version names');
  }
  if (list.filter((version) => version['storage'] === true).length !== 1) {
    const rule = 'must have exactly one version marked as storage version';
    field.child('versions').invalid(list.map(internalVersion), rule);
  }
  const first = names[0] ?? '';
  if (first && label(first)) field.child('version').invalid(first, label(first));
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];

/** Columns that all versions share are told of as the CRD's own. */
function printerColumns(spec: JsonObject, field: Field): void {
  const versions = records(spec['versions']);
  const first = versions[0]?.['additionalPrinterColumns'];
  const shared = versions.every((version) => sameJson(version['additionalPrinterColumns'], first));
  for (const [index, version] of (shared ? versions.slice(0, 1) : versions).entries()) {
    const base = shared ? field : field.child('versions').index(index);
    for (const [i, column] of records(version['additionalPrinterColumns']).entries()) {
      const path = base.child('additionalPrinterColumns').index(i);
      if (!text(column['name'])) path.child('name').required();
      const type = text(column['type']);
      const rule = `must be one of ${columnTypes.join(',')}`;
      if (!type) path.child('type').required(rule);
      else if (!columnTypes.includes(type)) path.child('type').invalid(type, rule);
      const jsonPath = text(column['jsonPath']);
      if (!jsonPath) path.child('JSONPath').required();
      else if (!jsonPath.startsWith('.')) {
        path.child('JSONPath').invalid(jsonPath, 'must be a simple json path starting with .');
      }
    }
  }
}

const approval = 'api-approved.kubernetes.io';

const frozen: readonly (readonly [string, ...string[]])[] = [
  ['scope'],
  ['names', 'kind'],
  ['group'],
  ['names', 'plural'],
];

/** Names, scope and versions; the schemas themselves are checked where they are compiled. */
const customResourceDefinition: KindCheck = ({ object, spec, old, oldSpec }, root) => {
  const field = root.child('spec');
  const group = text(spec['group']);
  const name = text(at(object, 'metadata', 'name'));
  const wanted = `${text(at(spec, 'names', 'plural'))}.${group}`;
  const base = text(at(object, 'metadata', 'generateName'));
  for (const [what, given] of Object.entries({ generateName: base, name })) {
    if (given === '' || given === wanted || (old && what === 'generateName')) continue;
    root.child('metadata', what).invalid(given, 'must be spec.names.plural+"."+spec.group');
  }
  const groupErrors = validateDns1123Subdomain(group);
  if (!group) field.child('group').required();
  else if (groupErrors.length > 0) field.child('group').invalid(group, groupErrors.join(','));
  else if (!group.includes('.'))
    field.child('group').invalid(group, 'should be a domain with at least one dot');
  const scope = text(spec['scope']);
  const scopes = ['Cluster', 'Namespaced'];
  if (!scope) field.child('scope').required();
  else if (!scopes.includes(scope)) field.child('scope').notSupported(scope, scopes);
  versions(spec, field);
  resourceNames(record(spec['names']), field.child('names'));
  printerColumns(spec, field);
  if (strings(at(object, 'status', 'storedVersions')).length === 0) {
    root.child('status', 'storedVersions').invalid(null, 'must have at least one stored version');
  }
  const isProtected =
    group === 'k8s.io' || group === 'kubernetes.io' || /\.(k8s|kubernetes)\.io$/.test(group);
  if (!old && isProtected && !text(at(object, 'metadata', 'annotations', approval))) {
    const path = root.child('metadata', 'annotations').key(approval);
    const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
    path.required(`protected groups must have approval annotation "${approval}", ${see}`);
  }
  if (!oldSpec) return;
  for (const path of frozen) {
    if (!sameJson(at(spec, ...path), at(oldSpec, ...path)))
      field.child(...path).invalid(at(spec, ...path), immutable);
  }
};

export const definitionChecks: KindChecks = {
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinition,
};
