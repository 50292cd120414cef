import { isIP } from 'node:net';
import type { JsonObject } from '../../object.ts';
import { at, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { ipAddress, isAddress } from '../ip.ts';
import type { SubresourceCheck } from '../kind.ts';
import { dns1123Subdomain } from '../rules.ts';

const path = ['status', 'loadBalancer', 'ingress'] as const;

/** Those that are new: what an earlier release took may stay. */
export function newAddresses(
  values: readonly string[],
  before: ReadonlySet<string>,
  at: (i: number) => Field,
): void {
  for (const [i, value] of values.entries()) if (!before.has(value)) ipAddress(value, at(i));
}

function entry(ingress: JsonObject, before: ReadonlySet<string>, field: Field): void {
  const ip = text(ingress['ip']);
  if (ip !== '') newAddresses([ip], before, () => field.child('ip'));
}

function hostname(ingress: JsonObject, field: Field): void {
  const name = text(ingress['hostname']);
  if (name === '') return;
  dns1123Subdomain(name, field.child('hostname'));
  if (isAddress(name)) field.child('hostname').invalid(name, 'must be a DNS name, not an IP address');
}

function mode({ ip, ipMode }: JsonObject, field: Field): void {
  if (ipMode === undefined || ipMode === null) {
    if (text(ip) !== '') field.required('must be specified when `ip` is set');
  } else if (text(ip) === '') field.forbidden('may not be specified when `ip` is not set');
  else if (ipMode !== 'VIP' && ipMode !== 'Proxy') field.notSupported(ipMode, ['Proxy', 'VIP']);
}

function addressesOf(object: unknown): Set<string> {
  return new Set(records(at(object, ...path)).map(({ ip }) => text(ip)));
}

/** https://kubernetes.io/docs/concepts/services-networking/service/#loadbalancer */
const service: SubresourceCheck = (object, old, root) => {
  const list = records(at(object, ...path));
  const field = root.child(...path);
  if (list.length > 0 && at(object, 'spec', 'type') !== 'LoadBalancer') {
    field.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  const before = addressesOf(old);
  for (const [i, ingress] of list.entries()) {
    entry(ingress, before, field.index(i));
    mode(ingress, field.index(i).child('ipMode'));
    hostname(ingress, field.index(i));
  }
};

/** https://kubernetes.io/docs/concepts/services-networking/ingress/ */
const ingress: SubresourceCheck = (object, old, root) => {
  const before = addressesOf(old);
  for (const [i, each] of records(at(object, ...path)).entries()) {
    const field = root.child(...path).index(i);
    entry(each, before, field);
    hostname(each, field);
  }
};

/** One of each family at most; shown as kube-apiserver keeps them. */
export function dualStack(values: readonly string[], field: Field): void {
  if (values.length < 2) return;
  const families = values.map((value) => isIP(value));
  const unknown = families.indexOf(0);
  if (unknown >= 0) {
    field.internal(`failed to check for dual stack with error:invalid IP[${unknown}]: ${values[unknown]}`);
  } else if (values.length === 2 && new Set(families).size === 2) return;
  const shown = values.map((IP) => ({ IP }));
  field.invalid(shown, 'may specify no more than one IP for each IP family');
}

export const addressStatuses: Readonly<Record<string, SubresourceCheck>> = {
  '/Service/status': service,
  'networking.k8s.io/Ingress/status': ingress,
};
