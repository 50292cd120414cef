import { validateDns1123Subdomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { configKeyMessages, dns1123Label, isSet, noBacksteps, qualifiedName } from '../rules.ts';
import { eachContainer } from './platform.ts';

const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const volumeFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

const known = new Set([
  ...envFields,
  ...volumeFields,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
  'spec.host',
]);
const subscripted = new Set(['metadata.annotations', 'metadata.labels']);

function referenceError(version: string, path: string, subscript: readonly string[] | null): string {
  if (version !== 'v1') return `unsupported pod version: ${version}`;
  if (subscript && !subscripted.has(subscript[1] ?? ''))
    return `field label does not support subscript: ${path}`;
  return subscript || known.has(path) ? '' : `field label not supported: ${path}`;
}

/** A path into the pod, for the downward API. */
function fieldReference(selector: JsonObject, supported: readonly string[], field: Field): void {
  const version = text(selector['apiVersion']);
  const path = text(selector['fieldPath']);
  if (!version || !path) {
    field.child(version ? 'fieldPath' : 'apiVersion').required();
    return;
  }
  const subscript = /^(.+?)\['(.*)'\]$/s.exec(path);
  const error = referenceError(version, path, subscript);
  if (error) {
    field.child('fieldPath').invalid(path, `error converting fieldPath: ${error}`);
    return;
  }
  if (subscript) {
    const [, base, key = ''] = subscript;
    qualifiedName(base === 'metadata.annotations' ? key.toLowerCase() : key, field);
    return;
  }
  const base = path === 'spec.host' ? 'spec.nodeName' : path;
  if (!supported.includes(base)) field.child('fieldPath').notSupported(base, supported);
}

export function volumeFieldReference(selector: JsonObject, field: Field): void {
  fieldReference(selector, volumeFields, field);
}

const cpuDivisors = ['1m', '1'];
const sizeDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** What may be divided by what, and what kube-apiserver calls it. */
function divisorsOf(resource: string): readonly [readonly string[], string] | undefined {
  if (/^(limits|requests)\.hugepages-/.test(resource)) return [sizeDivisors, 'hugepages'];
  if (!resourceFields.includes(resource)) return undefined;
  if (resource.endsWith('.cpu')) return [cpuDivisors, 'cpu'];
  return [sizeDivisors, resource.endsWith('.memory') ? 'memory' : 'local ephemeral storage'];
}

export function resourceReference(selector: JsonObject, field: Field, inVolume = false): void {
  const resource = text(selector['resource']);
  const divisors = divisorsOf(resource);
  if (inVolume && !text(selector['containerName'])) field.child('containerName').required();
  else if (!resource) field.child('resource').required();
  else if (!divisors) field.child('resource').notSupported(resource, resourceFields);
  const divisor = text(selector['divisor']);
  if (divisor === '' || divisor === '0' || !divisors || divisors[0].includes(divisor)) return;
  const [allowed, name] = divisors;
  const names = name === 'cpu' ? '1m and 1' : allowed.join(', ');
  const rule = `only divisor's values ${names} are supported with the ${name} resource`;
  field.child('divisor').invalid(resource, rule);
}

function keySelector(selector: JsonObject, field: Field): void {
  field.child('name').invalidAll(text(selector['name']), validateDns1123Subdomain(text(selector['name'])));
  const key = text(selector['key']);
  if (!key) field.child('key').required();
  else field.child('key').invalidAll(key, configKeyMessages(key));
}

/** A variable's value from a file that a container of the pod writes. */
function fileKeySelector(selector: JsonObject, field: Field): void {
  const key = text(selector['key']);
  const volume = text(selector['volumeName']);
  const path = text(selector['path']);
  if (!key) field.child('key').required();
  else variableName(key, field.child('key'));
  if (!volume) field.child('volumeName').required();
  else dns1123Label(volume, field.child('volumeName'));
  if (!path) field.child('path').required();
  else noBacksteps(path, field.child('path'));
}

/** Files that variables are read from lie in volumes of their pod that start out empty. */
export function fileVolumes(spec: JsonObject, field: Field): void {
  const volumes = new Map(records(spec['volumes']).map((volume) => [text(volume['name']), volume]));
  eachContainer(spec, field, (container, where) => {
    for (const [index, variable] of records(container['env']).entries()) {
      const ref = at(variable, 'valueFrom', 'fileKeyRef');
      if (!isRecord(ref)) continue;
      const name = text(ref['volumeName']);
      const volume = volumes.get(name);
      const path = where.child('env').index(index).child('valueFrom', 'fileKeyRef', 'volumeName');
      if (!volume) path.notFound(name);
      else if (!isSet(volume, 'emptyDir')) path.invalid(name, 'referenced volume must be of type emptyDir');
    }
  });
}

function valueFrom(variable: JsonObject, field: Field): void {
  const source = variable['valueFrom'];
  if (!isRecord(source)) return;
  let count = 0;
  const check = (name: string, one: (selector: JsonObject, path: Field) => void) => {
    if (!isSet(source, name)) return;
    count++;
    one(record(source[name]), field.child(name));
  };
  check('fieldRef', (selector, path) => fieldReference(selector, envFields, path));
  check('resourceFieldRef', resourceReference);
  check('configMapKeyRef', keySelector);
  check('secretKeyRef', keySelector);
  check('fileKeyRef', fileKeySelector);
  if (count === 0) {
    const sources = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    field.invalid('', `must specify one of: ${sources}`);
  } else if (text(variable['value'])) field.invalid('', 'may not be specified when `value` is not empty');
  else if (count > 1) field.invalid('', 'may not have more than one field specified at a time');
}

function variableName(name: string, field: Field): void {
  if (!/[^\x20-\x7e]|=/.test(name)) return;
  field.invalid(
    name,
    "a valid environment variable name must consist only of printable ASCII characters other than '='",
  );
}

export function environment(variables: unknown, field: Field): void {
  for (const [index, variable] of records(variables).entries()) {
    const path = field.index(index);
    const name = text(variable['name']);
    if (!name) path.child('name').required();
    else variableName(name, path.child('name'));
    valueFrom(variable, path.child('valueFrom'));
  }
}

export function environmentFrom(sources: unknown, field: Field): void {
  for (const [index, source] of records(sources).entries()) {
    const path = field.index(index);
    if (text(source['prefix'])) variableName(text(source['prefix']), path.child('prefix'));
    const named = ['configMapRef', 'secretRef'].filter((kind) => isSet(source, kind));
    for (const kind of named) {
      const name = text(at(source, kind, 'name'));
      if (!name) path.child(kind, 'name').required();
      else path.child(kind, 'name').invalidAll(name, validateDns1123Subdomain(name));
    }
    if (named.length === 0) field.invalid('', 'must specify one of: `configMapRef` or `secretRef`');
    else if (named.length > 1) field.invalid('', 'may not have more than one field specified at a time');
  }
}
