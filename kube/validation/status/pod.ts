import type { JsonObject, KubeObject } from '../../object.ts';
import { at, int, isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { SubresourceCheck } from '../kind.ts';
import { podAnnotationChanges } from '../pod/annotations.ts';
import { dns1123Subdomain, immutable, qualifiedName, userId } from '../rules.ts';
import { dualStack, newAddresses } from './addresses.ts';
import { extendedClaim } from './extended.ts';
import { deviceHealth } from './health.ts';

const system = ['PodScheduled', 'Ready', 'Initialized'];
const generationRule = 'must be a non-negative integer';

function conditions(list: readonly JsonObject[], field: Field): void {
  for (const [i, each] of list.entries()) {
    const generation = int(each['observedGeneration']);
    if (generation < 0) field.index(i).child('observedGeneration').invalid(generation, generationRule);
    const type = text(each['type']);
    if (!system.includes(type)) qualifiedName(type, field.index(i).child('Type'));
  }
}

/** Whether a container that has ended so may run again. https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/ */
function restarts(container: JsonObject, spec: JsonObject, exitCode: number): boolean {
  const own = container['restartPolicy'];
  for (const rule of own === undefined ? [] : records(container['restartPolicyRules'])) {
    const codes = record(rule['exitCodes']);
    const named = Array.isArray(codes['values']) && codes['values'].map(Number).includes(exitCode);
    if (codes['operator'] === 'In' ? named : codes['operator'] === 'NotIn' && !named) return true;
  }
  const policy = text(own) || text(spec['restartPolicy']);
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

function restartsAll(spec: JsonObject): boolean {
  const all = [...records(spec['initContainers']), ...records(spec['containers'])];
  return all.some((each) =>
    records(each['restartPolicyRules']).some(({ action }) => action === 'RestartAllContainers'),
  );
}

type MayRun = (name: string, exitCode: number) => boolean;

function transitions(now: unknown, before: unknown, mayRun: MayRun, field: Field): void {
  const running = new Set<unknown>();
  for (const { name, state } of records(now)) if (!isRecord(at(state, 'terminated'))) running.add(name);
  for (const [i, was] of records(before).entries()) {
    const ended = at(was, 'state', 'terminated');
    if (!isRecord(ended)) continue;
    if (!running.has(was['name'])) continue;
    if (mayRun(text(was['name']), int(ended['exitCode']))) continue;
    field.index(i).child('state').forbidden('may not be transitioned to non-terminated state');
  }
}

function containerStates({ status, spec }: KubeObject, old: KubeObject, field: Field): void {
  const body = record(spec);
  const all = restartsAll(body);
  const by = (list: string): MayRun => {
    if (all) return () => true;
    const known = new Map(records(body[list]).map((each) => [each['name'], each]));
    return (name, exitCode) => {
      const container = known.get(name);
      return container !== undefined && restarts(container, body, exitCode);
    };
  };
  const of = (name: string, mayRun: MayRun) =>
    transitions(at(status, name), at(old, 'status', name), mayRun, field.child(name));
  of('containerStatuses', by('containers'));
  of('initContainerStatuses', by('initContainers'));
  of('ephemeralContainerStatuses', () => false);
}

function claims(value: unknown, spec: unknown, field: Field): void {
  const known = new Set(records(at(spec, 'resourceClaims')).map(({ name }) => name));
  const seen = new Set<unknown>();
  for (const [i, { name, resourceClaimName }] of records(value).entries()) {
    const path = field.index(i).child('name');
    if (!known.has(text(name))) {
      path.invalid(text(name), 'must match the name of an entry in `spec.resourceClaims`');
    }
    if (seen.has(name)) path.duplicate(text(name));
    seen.add(name);
    if (typeof resourceClaimName === 'string') {
      dns1123Subdomain(resourceClaimName, field.index(i).child('resourceClaimName'));
    }
  }
}

function users(list: readonly JsonObject[], os: string, field: Field): void {
  for (const [i, { user }] of list.entries()) {
    const linux = at(user, 'linux');
    if (!isRecord(linux)) continue;
    const path = field.index(i).child('user', 'linux');
    if (os === 'windows') path.forbidden('cannot be set for a windows pod');
    else if (os === 'linux') {
      userId(linux['uid'], path.child('uid'));
      userId(linux['gid'], path.child('gid'));
      const groups = Array.isArray(linux['supplementalGroups']) ? linux['supplementalGroups'] : [];
      for (const [g, gid] of groups.entries()) userId(gid, path.child('supplementalGroups').index(g));
    }
  }
}

function addresses(object: KubeObject, old: KubeObject, root: Field): void {
  const of = (from: KubeObject, name: string) => records(at(from, 'status', name)).map(({ ip }) => text(ip));
  const check = (name: string) => {
    const field = root.child('status', name);
    newAddresses(of(object, name), new Set(of(old, name)), (i) => field.index(i));
    dualStack(of(object, name), field);
  };
  check('podIPs');
  const [host] = of(object, 'hostIPs');
  if (host === undefined) return;
  if (text(at(object, 'status', 'hostIP')) !== host) {
    root.child('status', 'hostIPs').index(0).child('ip').invalid(host, 'must be equal to `hostIP`');
  }
  check('hostIPs');
}

/** https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodStatus */
const pod: SubresourceCheck = (object, old, root) => {
  const annotations = root.child('metadata').child('annotations');
  podAnnotationChanges(object.metadata.annotations, old.metadata.annotations, annotations);
  const field = root.child('status');
  const status = record(object.status);
  conditions(records(status['conditions']), field.child('conditions'));
  nominated(object, old, field.child('nominatedNodeName'));
  const generation = int(status['observedGeneration']);
  if (generation < 0) field.child('observedGeneration').invalid(generation, generationRule);
  if (text(status['qosClass']) !== text(at(old, 'status', 'qosClass'))) {
    field.child('qosClass').invalid(text(status['qosClass']), immutable);
  }
  containerStates(object, old, field);
  claims(status['resourceClaimStatuses'], object.spec, field.child('resourceClaimStatuses'));
  addresses(object, old, root);
  const os = text(at(object, 'spec', 'os', 'name')) || 'linux';
  for (const name of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']) {
    users(records(status[name]), os, field.child(name));
  }
  const containersOf = (name: string) =>
    new Map(records(at(object.spec, name)).map((each) => [text(each['name']), each]));
  const health = (name: string, of?: string) =>
    deviceHealth(status[name], of === undefined ? undefined : containersOf(of), field.child(name));
  health('containerStatuses', 'containers');
  health('initContainerStatuses', 'initContainers');
  health('ephemeralContainerStatuses');
  const all = new Map([...containersOf('initContainers'), ...containersOf('containers')]);
  extendedClaim(status['extendedResourceClaimStatus'], all, field.child('extendedResourceClaimStatus'));
};

/** Of one that is bound nobody need think where it might run. */
function nominated(object: KubeObject, old: KubeObject, field: Field): void {
  const node = text(at(object, 'status', 'nominatedNodeName'));
  if (node === '' || node === text(at(old, 'status', 'nominatedNodeName'))) return;
  dns1123Subdomain(node, field);
  if (text(at(old, 'spec', 'nodeName')) === '') return;
  field.forbidden('may not be set on pods that are already bound to a node');
}

export const podStatuses: Readonly<Record<string, SubresourceCheck>> = { '/Pod/status': pod };
