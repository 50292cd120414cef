import { validateSearchDomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, int, isRecord, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { ipAddress } from '../ip.ts';
import { labels } from '../labels.ts';
import { annotations } from '../meta.ts';
import { dns1123Label, dns1123Subdomain, inclusiveRange, oneOf, qualifiedName } from '../rules.ts';
import { affinity, tolerations, topologySpread } from './affinity.ts';
import { podAnnotations, profilesMatch } from './annotations.ts';
import { containers, initContainers, type PodScope } from './container.ts';
import { fileVolumes } from './env.ts';
import { ephemeralContainers } from './ephemeral.ts';
import { hostName, hostUsers, operatingSystem } from './platform.ts';
import { podLevelResources } from './pod-level.ts';
import { claimNames, resources } from './resources.ts';
import { podSecurityContext } from './security.ts';
import { type PodContext, volumes } from './volume.ts';
import { hostProcesses } from './windows.ts';

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const maxInt32 = 2_147_483_647;

function hostNetworkPorts(spec: JsonObject, isPod: boolean, field: Field): void {
  if (spec['hostNetwork'] !== true) return;
  for (const [index, container] of records(spec['containers']).entries()) {
    for (const [i, port] of records(container['ports']).entries()) {
      const hostPort = int(port['hostPort']);
      if ((!isPod && hostPort === 0) || hostPort === int(port['containerPort'])) continue;
      const path = field.child('containers').index(index).child('ports').index(i).child('hostPort');
      path.invalid(hostPort, 'must match `containerPort` when `hostNetwork` is true');
    }
  }
}

function dnsConfig(spec: JsonObject, field: Field): void {
  const config = spec['dnsConfig'];
  const nameservers = strings(at(config, 'nameservers'));
  if (spec['dnsPolicy'] === 'None') {
    if (!isRecord(config)) {
      field.required('must provide `dnsConfig` when `dnsPolicy` is None');
      return;
    }
    if (nameservers.length === 0) {
      const rule = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      field.child('nameservers').required(rule);
      return;
    }
  }
  if (nameservers.length > 3) {
    field.child('nameservers').invalid(nameservers, 'must not have more than 3 nameservers');
  }
  for (const [index, address] of nameservers.entries())
    ipAddress(address, field.child('nameservers').index(index));
  const searches = strings(at(config, 'searches'));
  if (searches.length > 32)
    field.child('searches').invalid(searches, 'must not have more than 32 search paths');
  if (Buffer.byteLength(searches.join(' ')) > 2048) {
    const rule = 'must not have more than 2048 characters (including spaces) in the search list';
    field.child('searches').invalid(searches, rule);
  }
  for (const [index, search] of searches.entries()) {
    const bare = search.replace(/\.$/, '');
    if (search !== '.') field.child('searches').index(index).invalidAll(bare, validateSearchDomain(bare));
  }
  for (const [index, option] of records(at(config, 'options')).entries()) {
    if (!text(option['name'])) field.child('options').index(index).required('must not be empty');
  }
}

function names(spec: JsonObject, field: Field): void {
  for (const name of ['serviceAccountName', 'nodeName']) {
    const value = text(spec[name]);
    if (value) dns1123Subdomain(value, field.child(name));
  }
  const deadline = spec['activeDeadlineSeconds'];
  if (
    (typeof deadline === 'number' || typeof deadline === 'bigint') &&
    (deadline < 1 || deadline > maxInt32)
  ) {
    field.child('activeDeadlineSeconds').invalid(deadline, inclusiveRange(1, maxInt32));
  }
  for (const name of ['hostname', 'subdomain']) {
    const value = text(spec[name]);
    if (value) dns1123Label(value, field.child(name));
  }
  tolerations(spec['tolerations'], field.child('tolerations'));
  for (const [index, alias] of records(spec['hostAliases']).entries()) {
    const path = field.child('hostAliases').index(index);
    ipAddress(text(alias['ip']), path.child('ip'));
    for (const [i, name] of strings(alias['hostnames']).entries()) {
      dns1123Subdomain(name, path.child('hostnames').index(i));
    }
  }
  for (const name of ['priorityClassName', 'runtimeClassName']) {
    const value = spec[name];
    if (typeof value === 'string' && (value || name === 'runtimeClassName'))
      dns1123Subdomain(value, field.child(name));
  }
}

function extras(spec: JsonObject, field: Field): void {
  const preemption = spec['preemptionPolicy'];
  if (preemption !== undefined) {
    oneOf(preemption, ['PreemptLowerPriority', 'Never'], field.child('preemptionPolicy'));
  }
  if (isRecord(spec['overhead'])) resources({ limits: spec['overhead'] }, [], field.child('overhead'));
  operatingSystem(spec, field);
}

/** A pod's spec, of a Pod or of a template. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ */
export function podSpec(spec: JsonObject, field: Field, pod: PodContext = { isPod: false, name: '' }): void {
  const scope: PodScope = {
    volumes: volumes(spec['volumes'], pod, field.child('volumes')),
    claims: claimNames(spec),
    os: text(at(spec, 'os', 'name')),
    graceSeconds: int(spec['terminationGracePeriodSeconds']),
    hostUsers: spec['hostUsers'] !== false,
    restartPolicy: text(spec['restartPolicy']),
  };
  resourceClaims(spec['resourceClaims'], field.child('resourceClaims'));
  containers(spec['containers'], scope, field.child('containers'));
  initContainers(spec['initContainers'], spec['containers'], scope, field.child('initContainers'));
  ephemeralContainers(spec, scope, field.child('ephemeralContainers'));
  podLevelResources(spec, field.child('resources'));
  hostNetworkPorts(spec, pod.isPod, field);
  oneOf(spec['restartPolicy'], ['Always', 'OnFailure', 'Never'], field.child('restartPolicy'));
  oneOf(spec['dnsPolicy'], dnsPolicies, field.child('dnsPolicy'));
  labels(spec['nodeSelector'], field.child('nodeSelector'));
  podSecurityContext(spec, field.child('securityContext'));
  affinity(spec['affinity'], field.child('affinity'));
  dnsConfig(spec, field.child('dnsConfig'));
  for (const [index, gate] of records(spec['readinessGates']).entries()) {
    qualifiedName(
      text(gate['conditionType']),
      field.child('readinessGates').index(index).child('conditionType'),
    );
  }
  schedulingGates(spec['schedulingGates'], field.child('schedulingGates'));
  topologySpread(spec['topologySpreadConstraints'], field.child('topologySpreadConstraints'));
  hostProcesses(spec, field);
  hostUsers(spec, field);
  hostName(spec, field);
  names(spec, field);
  extras(spec, field);
  fileVolumes(spec, field);
}

function resourceClaims(value: unknown, field: Field): void {
  const seen = new Set<string>();
  for (const [index, claim] of records(value).entries()) {
    const path = field.index(index);
    const name = text(claim['name']);
    if (!name) path.child('name').required();
    else if (seen.has(name)) path.child('name').duplicate(name);
    else dns1123Label(name, path.child('name'));
    seen.add(name);
    const kinds = ['resourceClaimName', 'resourceClaimTemplateName'] as const;
    const given = kinds.filter((kind) => claim[kind] !== undefined);
    const [first, second] = kinds;
    if (given.length > 1)
      path.invalid(claimShown(claim), `at most one of \`${first}\` or \`${second}\` may be specified`);
    if (given.length === 0)
      path.invalid(claimShown(claim), `must specify one of: \`${first}\`, \`${second}\``);
    for (const kind of given) dns1123Subdomain(text(claim[kind]), path.child(kind));
  }
}

/** As Go prints the claim that it decoded. */
function claimShown(claim: JsonObject): JsonObject {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  return {
    Name: text(name),
    ResourceClaimName: resourceClaimName ?? null,
    ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
  };
}

function schedulingGates(value: unknown, field: Field): void {
  const seen = new Set<string>();
  for (const [index, gate] of records(value).entries()) {
    const name = text(gate['name']);
    qualifiedName(name, field.index(index));
    if (seen.has(name)) field.index(index).duplicate(name);
    seen.add(name);
  }
}

export function podTemplate(template: unknown, field: Field): void {
  const meta = record(at(template, 'metadata'));
  const spec = record(at(template, 'spec'));
  labels(meta['labels'], field.child('labels'));
  annotations(meta['annotations'], field.child('annotations'));
  podAnnotations(meta['annotations'], spec, field.child('annotations'));
  podSpec(spec, field.child('spec'));
  profilesMatch(meta['annotations'], spec, field.child('spec'));
  if (records(spec['ephemeralContainers']).length > 0) {
    field.child('spec', 'ephemeralContainers').forbidden('ephemeral containers not allowed in pod template');
  }
}
