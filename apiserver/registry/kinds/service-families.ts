import { fill } from '../../../kube/defaults/fill.ts';
import type { JsonObject } from '../../../kube/object.ts';
import type { StatusCause } from '../../../kube/status.ts';
import { int, records, strings, text } from '../../../kube/untyped.ts';
import { serviceAddressProblems } from '../../../kube/validation/service.ts';

/** The only family in which a logical cluster gives addresses. */
const family = 'IPv4';
const other = 'IPv6';

export const hasNodePorts = (spec: JsonObject) => ['NodePort', 'LoadBalancer'].includes(text(spec['type']));
export const checksHealth = (spec: JsonObject) =>
  spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';

const same = (a: unknown, b: unknown) => JSON.stringify(strings(a)) === JSON.stringify(strings(b));

/** What was allocated comes back where the client leaves it out; singular and plural address follow each other. */
export function linkAllocated(spec: JsonObject, before: JsonObject | undefined): void {
  const single = text(spec['clusterIP']);
  if (before === undefined) {
    if (single && strings(spec['clusterIPs']).length === 0) spec['clusterIPs'] = [single];
    return;
  }
  keepValues(spec, before);
  const [now, was] = [text(spec['clusterIP']), text(before['clusterIP'])];
  const unchanged = same(spec['clusterIPs'], before['clusterIPs']);
  if (now === was) {
    if (strings(spec['clusterIPs']).length === 0 && before['clusterIPs'])
      spec['clusterIPs'] = before['clusterIPs'];
  } else if (unchanged) {
    if (now === '') delete spec['clusterIPs'];
    else spec['clusterIPs'] = [now];
  }
}

function keepValues(spec: JsonObject, before: JsonObject): void {
  const addressed = (of: JsonObject) => ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(text(of['type']));
  if (addressed(spec) && addressed(before)) {
    if (!text(spec['clusterIP']) && before['clusterIP']) spec['clusterIP'] = before['clusterIP'];
    if (strings(spec['clusterIPs']).length === 0 && before['clusterIPs'])
      spec['clusterIPs'] = before['clusterIPs'];
  }
  if (checksHealth(spec) && checksHealth(before)) {
    if (!spec['healthCheckNodePort'] && before['healthCheckNodePort']) {
      spec['healthCheckNodePort'] = before['healthCheckNodePort'];
    }
  }
  const given = (of: JsonObject) => hasNodePorts(of) && of['allocateLoadBalancerNodePorts'] !== false;
  if (!given(spec) || !given(before)) return;
  const numbers = (of: JsonObject) => records(of['ports']).map((port) => int(port['nodePort']));
  const named = new Map(records(before['ports']).map((port) => [text(port['name']), int(port['nodePort'])]));
  const used = new Set(numbers(spec).filter((port) => port !== 0 && numbers(before).includes(port)));
  for (const port of records(spec['ports'])) {
    const old = named.get(text(port['name'])) ?? 0;
    if (!port['nodePort'] && old !== 0 && !used.has(old)) port['nodePort'] = old;
  }
}

/**
 * The address families and their policy, where the client left them open; what cannot be had is refused.
 * https://kubernetes.io/docs/concepts/services-networking/dual-stack/
 */
export function settleFamilies(spec: JsonObject, before: JsonObject | undefined): StatusCause[] {
  if (spec['type'] === 'ExternalName' || unchangedPreference(spec, before)) return [];
  const headless = spec['clusterIP'] === 'None';
  const selectorless = headless && Object.keys((spec['selector'] ?? {}) as object).length === 0;
  if (before?.['ipFamilyPolicy'] && before['type'] !== 'ExternalName') {
    fill(spec, 'ipFamilyPolicy', before['ipFamilyPolicy']);
  }
  fill(spec, 'ipFamilyPolicy', selectorless ? 'RequireDualStack' : 'SingleStack');
  const malformed = serviceAddressProblems(spec);
  if (malformed.length > 0) return malformed;
  const causes = before === undefined ? [] : narrowed(spec, before);
  causes.push(...conflicting(spec), ...inferred(spec));
  if (causes.length > 0) return causes;
  const families = strings(spec['ipFamilies']);
  if (selectorless) {
    if (families.length === 0) families.push(family);
    if (families.length < 2 && spec['ipFamilyPolicy'] !== 'SingleStack') {
      families.push(families[0] === family ? other : family);
    }
    spec['ipFamilies'] = families;
    return [];
  }
  const refused = unavailable(spec, families);
  if (refused.length === 0 && families.length === 0) spec['ipFamilies'] = [family];
  return refused;
}

/** A preference is acted upon when it is stated, not when somebody writes the Service again. */
function unchangedPreference(spec: JsonObject, before: JsonObject | undefined): boolean {
  const prefers = (of: JsonObject) => (of['ipFamilyPolicy'] ?? 'PreferDualStack') === 'PreferDualStack';
  if (before === undefined || spec['ipFamilyPolicy'] === undefined) return false;
  if (spec['type'] !== before['type'] || !prefers(spec) || !prefers(before)) return false;
  return same(spec['clusterIPs'], before['clusterIPs']) && same(spec['ipFamilies'], before['ipFamilies']);
}

function narrowed(spec: JsonObject, before: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [field, what] of [
    ['clusterIPs', 'cluster IP'],
    ['ipFamilies', 'IP family'],
  ] as const) {
    const [now, was] = [strings(spec[field]), strings(before[field])];
    if (spec['ipFamilyPolicy'] === 'SingleStack') {
      if (same(now, was) && now.length > 1) spec[field] = now.slice(0, 1);
    } else if (now.length > 0 && now.length < was.length) {
      causes.push(policyProblem(spec, `must be 'SingleStack' to release the secondary ${what}`));
    }
  }
  return causes;
}

function conflicting(spec: JsonObject): StatusCause[] {
  if (spec['ipFamilyPolicy'] !== 'SingleStack') return [];
  const why = (what: string) =>
    policyProblem(
      spec,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(strings(spec['clusterIPs']).length === 2 ? [why('cluster IPs')] : []),
    ...(strings(spec['ipFamilies']).length === 2 ? [why('IP families')] : []),
  ];
}

/** Families that the given addresses say. */
function inferred(spec: JsonObject): StatusCause[] {
  const families = strings(spec['ipFamilies']);
  const causes: StatusCause[] = [];
  const addresses = strings(spec['clusterIPs']);
  for (const [index, address] of addresses.entries()) {
    if (address === 'None') break;
    if (index < families.length) continue;
    if (address.includes(':')) {
      causes.push({
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(addresses)}: ${other} is not configured on this cluster`,
        field: `spec.clusterIPs[${index}]`,
      });
    } else families.push(family);
  }
  if (families.length > 0) spec['ipFamilies'] = families;
  return causes;
}

function unavailable(spec: JsonObject, families: readonly string[]): StatusCause[] {
  const causes: StatusCause[] = [];
  if (spec['ipFamilyPolicy'] === 'RequireDualStack') {
    causes.push(policyProblem(spec, 'this cluster is not configured for dual-stack services'));
  }
  for (const [index, one] of families.entries()) {
    if (one === family) continue;
    causes.push({
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(one)}: not configured on this cluster`,
      field: `spec.ipFamilies[${index}]`,
    });
  }
  return causes;
}

function policyProblem(spec: JsonObject, why: string): StatusCause {
  return {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(spec['ipFamilyPolicy'])}: ${why}`,
    field: 'spec.ipFamilyPolicy',
  };
}
