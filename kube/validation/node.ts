import { validateLabelValue } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { internal } from './internal.ts';
import { cidr, parseRange } from './ip.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { taintEffect } from './pod/affinity.ts';
import { resourceQuantity } from './pod/resources.ts';
import { qualifiedName } from './rules.ts';

function taints(list: readonly JsonObject[], field: Field): void {
  const seen = new Set<string>();
  for (const [index, taint] of list.entries()) {
    const path = field.index(index);
    const key = text(taint['key']);
    qualifiedName(key, path.child('key'));
    const value = text(taint['value']);
    const messages = validateLabelValue(value);
    if (messages.length > 0) path.child('value').invalid(value, messages.join(';'));
    const effect = text(taint['effect']);
    if (!effect) path.child('effect').required();
    else taintEffect(effect, path.child('effect'));
    if (seen.has(`${effect}:${key}`))
      path.duplicate(internal(taint, 'core.Taint'), 'taints must be unique by key and effect pair');
    seen.add(`${effect}:${key}`);
  }
}

const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;

function declaredFeatures(list: readonly string[], field: Field): void {
  for (const [index, name] of list.entries()) {
    const why = `invalid feature name ${JSON.stringify(name)}: must`;
    if (Buffer.byteLength(name) > 253)
      field.index(index).invalid(name, `${why} be no more than 253 characters`);
    else if (!featureName.test(name)) {
      const rule = "start with an UpperCamelCase segment, with subsequent segments separated by '/'";
      const example = '(e.g., MyFeature or MyFeature/mySubFeature)';
      const more = 'and contain only alphanumeric characters and slashes';
      field.index(index).invalid(name, `${why} ${rule} ${example}, ${more}`);
    }
    const next = list[index + 1];
    if (next === undefined) continue;
    if (name === next) field.index(index + 1).duplicate(next);
    else if (name > next) field.index(index + 1).invalid(next, 'list must be sorted alphabetically');
  }
}

/** What both looks at a node share; an update has two. */
function looked(object: unknown, spec: JsonObject, root: Field): void {
  taints(records(spec['taints']), root.child('metadata', 'taints'));
  for (const kind of ['capacity', 'allocatable']) {
    const list = record(at(object, 'status', kind));
    for (const name of Object.keys(list))
      resourceQuantity(name, list[name], root.child('status', kind, name));
  }
  const features = strings(at(object, 'status', 'declaredFeatures'));
  declaredFeatures(features, root.child('status', 'declaredFeatures'));
}

function podRanges(ranges: readonly string[], old: readonly string[], field: Field): void {
  for (const [index, range] of ranges.entries()) if (!old.includes(range)) cidr(range, field.index(index));
  if (ranges.length < 2) return;
  const widths = new Set(ranges.map((range) => parseRange(range)?.width));
  if (widths.has(undefined) || widths.size < 2 || ranges.length > 2)
    field.invalid(ranges, 'may specify no more than one CIDR for each IP family');
}

function kept(spec: JsonObject, oldSpec: JsonObject, field: Field): void {
  const rule = (what: string) => `node updates may not change ${what} except from "" to valid`;
  const [ranges, old] = [strings(spec['podCIDRs']), strings(oldSpec['podCIDRs'])];
  if (old.length > 0) {
    const changes = old.length === ranges.length ? old.filter((range, i) => range !== ranges[i]) : [''];
    for (const _change of changes) field.child('podCIDRs').forbidden(rule('podCIDR'));
  }
  const id = text(oldSpec['providerID']);
  if (id && id !== text(spec['providerID'])) field.child('providerID').forbidden(rule('providerID'));
  if (text(spec['externalID']) !== text(oldSpec['externalID']))
    field.child('externalID').forbidden('may not be updated');
}

const node: KindCheck = ({ object, spec, oldSpec }, root) => {
  looked(object, spec, root);
  const swap = at(object, 'status', 'nodeInfo', 'swap');
  if (isRecord(swap) && swap['capacity'] !== undefined && Number(swap['capacity']) <= 0) {
    const path = root.child('metadata', 'nodeSwapStatus', 'capacity');
    path.invalid(swap['capacity'], 'must be greater than zero');
  }
  podRanges(strings(spec['podCIDRs']), [], root.child('spec', 'podCIDRs'));
  if (oldSpec) changedNode(object, spec, oldSpec, root);
};

/** What an update is asked of, of its status too. */
export function changedNode(object: unknown, spec: JsonObject, oldSpec: JsonObject, root: Field): void {
  looked(object, spec, root);
  const seen = new Set<string>();
  for (const [index, address] of records(at(object, 'status', 'addresses')).entries()) {
    const key = `${text(address['type'])}/${text(address['address'])}`;
    const path = root.child('status', 'addresses').index(index);
    if (seen.has(key)) path.duplicate(internal(address, 'core.NodeAddress'));
    seen.add(key);
  }
  kept(spec, oldSpec, root.child('spec'));
}

export const nodeChecks: KindChecks = { '/Node': node };
