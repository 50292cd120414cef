import { compareQuantities, parseQuantity } from '../../defaults/quantity.ts';
import { validateQualifiedName } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { scaledQuantity } from '../../quantity.ts';
import { at, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { dns1123Label, notNegative } from '../rules.ts';

const containerResources = ['cpu', 'memory', 'ephemeral-storage'];
const integers = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const quotaResources = new Set([
  ...containerResources,
  ...integers,
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
export const huge = (name: string) => name.startsWith('hugepages-');
const quotaHuge = (name: string) => huge(name) || name.startsWith('requests.hugepages-');
export const isNative = (name: string) => !name.includes('/') || name.includes('kubernetes.io/');
/** What containers may ask for more of than there is. */
export function isOvercommitted(name: string): boolean {
  return isNative(name) && !huge(name);
}

export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || quotaHuge(name);
}

function isStandard(name: string): boolean {
  return name === 'storage' || isQuotaResource(name);
}

function isContainerResource(name: string): boolean {
  return containerResources.includes(name) || huge(name);
}

/** What devices a node has: of another domain than Kubernetes' own. */
function isExtended(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return validateQualifiedName(`requests.${name}`).length === 0;
}

/** False when the name is none of a resource. */
export function resourceName(name: string, field: Field): boolean {
  const messages = validateQualifiedName(name);
  field.invalidAll(name, messages);
  if (messages.length > 0) return false;
  if (name.includes('/') || isStandard(name)) return true;
  field.invalid(name, 'must be a standard resource type or fully qualified');
  return false;
}

export function containerResourceName(name: string, field: Field): void {
  resourceName(name, field);
  if (!name.includes('/')) {
    if (!isContainerResource(name)) field.invalid(name, 'must be a standard resource for containers');
  } else if (!isNative(name) && !isExtended(name)) {
    field.invalid(name, "doesn't follow extended resource name standard");
  }
}

export function resourceQuantity(name: string, value: unknown, field: Field): void {
  const quantity = parseQuantity(value);
  if (!quantity) return;
  if (quantity.value < 0n) field.invalid(value, notNegative);
  if ((integers.has(name) || isExtended(name)) && scaledQuantity(quantity, -3) % 1000n !== 0n)
    field.invalid(value, 'must be an integer');
}

function hugePages(name: string, value: unknown, field: Field): void {
  if (!huge(name)) return;
  const [quantity, size] = [parseQuantity(value), parseQuantity(name.slice('hugepages-'.length))];
  const page = size ? scaledQuantity(size) : 0n;
  const whole = size !== undefined && page > 0n && scaledQuantity(size, -3) % 1000n === 0n;
  if (quantity && whole && scaledQuantity(quantity) % page === 0n) return;
  field.invalid(value, `${text(value)} is not positive integer multiple of ${name}`);
}

function requestAgainstLimit(name: string, value: unknown, limits: JsonObject, field: Field): void {
  if (!Object.hasOwn(limits, name)) {
    if (!isOvercommitted(name))
      field.child('limits').required('Limit must be set for non overcommitable resources');
    return;
  }
  const limit = limits[name];
  const order = compareQuantities(value, limit);
  if (order === undefined || order === 0) return;
  const path = field.child('requests');
  if (!isOvercommitted(name)) path.invalid(value, `must be equal to ${name} limit of ${limit}`);
  else if (order > 0) path.invalid(value, `must be less than or equal to ${name} limit of ${limit}`);
}

type NameCheck = (name: string, field: Field) => void;

/** Requests and limits. https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/ */
export function resources(
  value: unknown,
  claims: readonly string[],
  field: Field,
  checkName: NameCheck = containerResourceName,
): void {
  const limits = record(at(value, 'limits'));
  const requests = record(at(value, 'requests'));
  const one = (name: string, quantity: unknown, path: Field) => {
    checkName(name, path);
    resourceQuantity(name, quantity, path);
    hugePages(name, quantity, path);
  };
  for (const name of Object.keys(limits)) one(name, limits[name], field.child('limits').key(name));
  for (const name of Object.keys(requests)) {
    one(name, requests[name], field.child('requests').key(name));
    requestAgainstLimit(name, requests[name], limits, field);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(huge) && !names.includes('cpu') && !names.includes('memory')) {
    field.forbidden('HugePages require cpu or memory');
  }
  claimReferences(at(value, 'claims'), claims, field.child('claims'));
}

/** A claim as a whole, or requests of it, each once. */
function claimReferences(value: unknown, claims: readonly string[], field: Field): void {
  const seen = new Set<string>();
  for (const [index, claim] of records(value).entries()) {
    const path = field.index(index);
    const name = text(claim['name']);
    if (!name) {
      path.required();
      continue;
    }
    const request = text(claim['request']);
    if (seen.has(name)) path.duplicate(name);
    else {
      const key = request ? `${name}/${request}` : name;
      if (request) dns1123Label(request, path.child('request'));
      if (seen.has(key)) path.duplicate(key);
      else if (!request) for (const other of seen) if (other.startsWith(`${name}/`)) path.duplicate(name);
      seen.add(key);
    }
    if (claims.includes(name)) continue;
    const known = claims.length === 0 ? ' which is empty' : `: ${[...claims].sort().join(', ')}`;
    path.notFound(name, `must be one of the names in pod.spec.resourceClaims${known}`);
  }
}

/** Names that a pod's containers may claim. */
export function claimNames(spec: unknown): string[] {
  return records(at(spec, 'resourceClaims'))
    .map((claim) => text(claim['name']))
    .filter(Boolean);
}

export function accessModes(value: unknown, field: Field): void {
  const supported = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
  const modes = strings(value);
  for (const mode of modes) if (!supported.includes(mode)) field.notSupported(mode, supported);
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && supported.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others) {
    field.forbidden('may not use ReadWriteOncePod with other access modes');
  }
}
