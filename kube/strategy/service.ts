import { sameJson } from '../deep.ts';
import { fill } from '../defaults/fill.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { isRecord, record, records, strings, text } from '../untyped.ts';

const needsNodePort = (spec: JsonObject) => ['NodePort', 'LoadBalancer'].includes(text(spec['type']));
const balanced = (spec: JsonObject) => spec['type'] === 'LoadBalancer';
const checksHealth = (spec: JsonObject) => balanced(spec) && spec['externalTrafficPolicy'] === 'Local';
const reachable = (spec: JsonObject) =>
  needsNodePort(spec) || (spec['type'] === 'ClusterIP' && strings(spec['externalIPs']).length > 0);

/** Fields that the old type needed, the new one refuses, and the client left as they were: they go. */
export function dropTypeDependentFields(object: KubeObject, old: KubeObject): void {
  if (!isRecord(object.spec)) return;
  const spec = object.spec;
  const before = record(old.spec);
  const dropUnchanged = (...fields: string[]) => {
    if (!fields.every((field) => sameJson(spec[field], before[field]))) return;
    for (const field of fields) delete spec[field];
  };
  if (before['type'] !== 'ExternalName' && spec['type'] === 'ExternalName') {
    dropUnchanged('clusterIP', 'clusterIPs');
    dropUnchanged('ipFamilies');
    dropUnchanged('ipFamilyPolicy');
  }
  const ports = (of: JsonObject) => records(of['ports']).map((port) => port['nodePort'] ?? 0);
  if (needsNodePort(before) && !needsNodePort(spec) && sameJson(ports(spec), ports(before))) {
    for (const port of records(spec['ports'])) delete port['nodePort'];
  }
  if (checksHealth(before) && !checksHealth(spec)) dropUnchanged('healthCheckNodePort');
  if (balanced(before) && !balanced(spec)) {
    dropUnchanged('allocateLoadBalancerNodePorts');
    dropUnchanged('loadBalancerClass');
  }
  if (spec['type'] === 'ExternalName') delete spec['internalTrafficPolicy'];
  if (reachable(before) && !reachable(spec)) dropUnchanged('externalTrafficPolicy');
  if (!balanced(spec)) object.status = { ...record(object.status), loadBalancer: {} };
}

/**
 * The address families of a single-stack IPv4 cluster, for what the client left open; on update what was decided stays.
 * https://kubernetes.io/docs/concepts/services-networking/dual-stack/
 */
export function ipFamilies(object: KubeObject, old?: KubeObject): void {
  if (!isRecord(object.spec) || object.spec['type'] === 'ExternalName') return;
  const before = record(old?.spec);
  const spec = object.spec;
  if (old && before['type'] !== 'ExternalName') keepAllocated(spec, before);
  else if (text(spec['clusterIP'])) fill(spec, 'clusterIPs', [text(spec['clusterIP'])]);
  // Nobody can know the families of addresses that somebody else writes: both are allowed.
  const selectorless = spec['clusterIP'] === 'None' && spec['selector'] === undefined;
  fill(spec, 'ipFamilyPolicy', selectorless ? 'RequireDualStack' : 'SingleStack');
  fill(spec, 'ipFamilies', selectorless ? ['IPv4', 'IPv6'] : ['IPv4']);
}

/** What was allocated comes back when the client leaves it out; the singular and the plural address follow each other. */
function keepAllocated(spec: JsonObject, before: JsonObject): void {
  for (const field of ['ipFamilies', 'ipFamilyPolicy', 'clusterIP']) {
    if (spec[field] === undefined && before[field] !== undefined) spec[field] = before[field];
  }
  const same = spec['clusterIP'] === before['clusterIP'];
  if (same && before['clusterIPs'] !== undefined) fill(spec, 'clusterIPs', before['clusterIPs']);
  if (!same && sameJson(spec['clusterIPs'], before['clusterIPs']))
    spec['clusterIPs'] = [text(spec['clusterIP'])];
  const given = (of: JsonObject) => needsNodePort(of) && of['allocateLoadBalancerNodePorts'] !== false;
  if (!given(spec) || !given(before)) return;
  const key = (port: JsonObject) => `${text(port['protocol'])}/${String(port['port'])}`;
  const allocated = new Map(records(before['ports']).map((port) => [key(port), port['nodePort']]));
  const taken = new Set(records(spec['ports']).map((port) => port['nodePort']));
  for (const port of records(spec['ports'])) {
    const nodePort = allocated.get(key(port));
    if (nodePort !== undefined && !taken.has(nodePort)) fill(port, 'nodePort', nodePort);
  }
}
