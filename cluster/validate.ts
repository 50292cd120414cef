import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { openapiOf } from '../kube/openapi/own.ts';
import { parseQuantity, QuantityError } from '../kube/quantity.ts';
import type { ObjectSchema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';
import { isRecord, listAt } from '../kube/untyped.ts';
import { validateSchema } from '../kube/validation/custom/schema.ts';
import { Field } from '../kube/validation/field.ts';
import { validateCreate, validateUpdate } from '../kube/validation/index.ts';
import { containerResourceName, resourceQuantity } from '../kube/validation/pod/resources.ts';
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../kube/validation/rules.ts';
import { physicalClusters } from './names.ts';

const kind = { ...physicalClusters, kind: 'PhysicalCluster', namespaced: false };

/** What is wrong with a PhysicalCluster, in kube-apiserver's words. What an update leaves as it was may stay. */
export function validateCluster(
  schema: ObjectSchema,
  object: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): StatusCause[] {
  const causes = old
    ? validateUpdate(object, old, kind, subresource === '' ? undefined : subresource)
    : validateCreate(object, kind);
  if (subresource !== '') return causes;
  const { spec } = object;
  const before = old && { spec: old.spec };
  causes.push(...validateSchema({ spec }, openapiOf(schema), '', 0, before));
  if (causes.length > 0 || !isRecord(spec) || deepEqual(spec, old?.spec)) return causes;
  const field = new Field(causes).child('spec');
  const { drainConcurrent: most, cost } = spec;
  if (typeof most === 'number' && most < 1)
    field.child('drainConcurrent').invalid(most, 'must be greater than or equal to 1');
  if (typeof cost === 'number' && cost < 0)
    field.child('cost').invalid(cost, 'must be greater than or equal to 0');
  if (typeof spec['network'] === 'string') dns1123Label(spec['network'], field.child('network'));
  if (typeof spec['copier'] === 'string') dns1123Subdomain(spec['copier'], field.child('copier'));
  inClusterConfig(spec['inClusterConfig'], field.child('inClusterConfig'));
  bounds(isRecord(spec['capacity']) ? spec['capacity'] : {}, field.child('capacity'));
  taints(Array.isArray(spec['taints']) ? spec['taints'] : [], field.child('taints'));
  patterns(listAt(spec, 'namespaceLabels'), field.child('namespaceLabels'));
  return causes;
}

/** In-cluster configuration knows a host and a port and no path. */
function inClusterConfig(config: unknown, field: Field): void {
  if (!isRecord(config)) return;
  const { server, certificateAuthorityData: authority } = config;
  const text = String(server);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || `${url.origin}/` !== url.href || url.hostname === '')
    field.child('server').invalid(text, 'must be https://HOST[:PORT], without a path');
  if (typeof authority !== 'string') return;
  if (!Buffer.from(authority, 'base64').toString().includes('-----BEGIN CERTIFICATE-----'))
    field.child('certificateAuthorityData').invalid(authority, 'must be certificates in PEM, in base64');
}

function bounds(capacity: Record<string, unknown>, field: Field): void {
  for (const [name, amount] of Object.entries(capacity)) {
    if (name !== 'pods') containerResourceName(name, field);
    try {
      parseQuantity(String(amount));
      resourceQuantity(name, amount, field.key(name));
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      field.key(name).invalid(amount, error.message);
    }
  }
}

/** A key, `prefix/*`, or `*`. */
function patterns(list: readonly unknown[], field: Field): void {
  for (const [index, pattern] of list.entries()) {
    if (pattern !== '*') qualifiedName(String(pattern).replace(/[/][*]$/, '/x'), field.index(index));
  }
}

function taints(list: readonly unknown[], field: Field): void {
  const seen = new Set<string>();
  for (const [index, taint] of list.entries()) {
    if (!isRecord(taint)) continue;
    const { key, effect, timeAdded } = taint;
    if (timeAdded !== undefined && Number.isNaN(Date.parse(String(timeAdded))))
      field.index(index).child('timeAdded').invalid(timeAdded, 'must be a time, as 2026-01-31T12:00:00Z');
    if (key === '') field.index(index).child('key').required();
    const pair = `${String(key)}:${String(effect)}`;
    if (seen.has(pair)) field.index(index).duplicate(pair, 'taints must be unique by key and effect pair');
    seen.add(pair);
  }
}
