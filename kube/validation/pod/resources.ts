import { at, record, records, strings, text } from '../../defaults/json.ts';
import { compareQuantities, parseQuantity } from '../../defaults/quantity.ts';
import { validateQualifiedName } from '../../names.ts';
import type { Field } from '../field.ts';
import { notNegative } from '../rules.ts';

const containerResources = ['cpu', 'memory', 'ephemeral-storage'];
const standard = [
  ...containerResources,
  'storage',
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'services.nodeports',
  'services.loadbalancers',
];
const integers = ['pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps'];
const huge = (name: string) => name.startsWith('hugepages-');
const native = (name: string) =>
  !name.includes('/') || name.split('/')[0]?.endsWith('kubernetes.io') === true;
const overcommitted = (name: string) => native(name) && !huge(name);

function extended(name: string): boolean {
  if (native(name) || name.startsWith('requests.')) return false;
  return validateQualifiedName(`requests.${name}`).length === 0;
}

/** Whole numbers only: counts, and what devices a node has. */
function isWhole(name: string): boolean {
  return integers.includes(name) || name === 'services.nodeports' || extended(name);
}

export function resourceName(name: string, field: Field): boolean {
  const messages = validateQualifiedName(name);
  field.invalidAll(name, messages);
  if (messages.length > 0) return false;
  if (!name.includes('/') && !standard.includes(name) && !huge(name)) {
    field.invalid(name, 'must be a standard resource type or fully qualified');
    return false;
  }
  return true;
}

function containerResourceName(name: string, field: Field): void {
  resourceName(name, field);
  if (!name.includes('/')) {
    if (!containerResources.includes(name) && !huge(name)) {
      field.invalid(name, 'must be a standard resource for containers');
    }
  } else if (!native(name) && !extended(name)) {
    field.invalid(name, "doesn't follow extended resource name standard");
  }
}

export function resourceQuantity(name: string, value: unknown, field: Field): void {
  const quantity = parseQuantity(value);
  if (!quantity) return;
  if (quantity.value < 0n) field.invalid(value, notNegative);
  const fractional = quantity.scale < 0 && quantity.value % 10n ** BigInt(-quantity.scale) !== 0n;
  if (isWhole(name) && fractional) field.invalid(value, 'must be an integer');
}

function requestAgainstLimit(
  name: string,
  value: unknown,
  limits: Record<string, unknown>,
  field: Field,
): void {
  if (!Object.hasOwn(limits, name)) {
    if (!overcommitted(name))
      field.child('limits').required('Limit must be set for non overcommitable resources');
    return;
  }
  const limit = limits[name];
  const order = compareQuantities(value, limit);
  if (order === undefined || order === 0) return;
  const path = field.child('requests');
  if (!overcommitted(name)) path.invalid(value, `must be equal to ${name} limit of ${limit}`);
  else if (order > 0) path.invalid(value, `must be less than or equal to ${name} limit of ${limit}`);
}

/** A container's requests and limits. https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/ */
export function resources(value: unknown, claims: readonly string[], field: Field): void {
  const limits = record(at(value, 'limits'));
  const requests = record(at(value, 'requests'));
  for (const [name, quantity] of Object.entries(limits)) {
    const path = field.child('limits').key(name);
    containerResourceName(name, path);
    resourceQuantity(name, quantity, path);
  }
  for (const [name, quantity] of Object.entries(requests)) {
    const path = field.child('requests').key(name);
    containerResourceName(name, path);
    resourceQuantity(name, quantity, path);
    requestAgainstLimit(name, quantity, limits, field);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(huge) && !names.includes('cpu') && !names.includes('memory')) {
    field.forbidden('HugePages require cpu or memory');
  }
  for (const [index, claim] of records(at(value, 'claims')).entries()) {
    const name = text(claim['name']);
    if (!name) field.child('claims').index(index).required();
    else if (!claims.includes(name))
      field
        .child('claims')
        .index(index)
        .notFound(
          name,
          `must be one of the names in pod.spec.resourceClaims${claims.length === 0 ? ' which is empty' : ''}`,
        );
  }
}

/** Names that a pod's containers may claim. */
export function claimNames(spec: unknown): string[] {
  return records(at(spec, 'resourceClaims')).map((claim) => text(claim['name']));
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
