import type { JsonObject } from '../../object.ts';
import { at, isRecord, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { dns1123Subdomain } from '../rules.ts';

/** Every container of a pod with where it is, init containers first. */
export function eachContainer(
  spec: JsonObject,
  field: Field,
  visit: (container: JsonObject, path: Field) => void,
): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const [index, container] of records(spec[list]).entries())
      visit(container, field.child(list).index(index));
  }
}

/** A user namespace of its own goes with no other namespace of the host. */
export function hostUsers(spec: JsonObject, field: Field): void {
  if (spec['hostUsers'] !== false) return;
  const rule = 'when `hostUsers` is false';
  if (spec['hostNetwork'] === true) field.child('hostNetwork').forbidden(rule);
  if (spec['hostPID'] === true) field.child('HostPID').forbidden(rule);
  if (spec['hostIPC'] === true) field.child('HostIPC').forbidden(rule);
  eachContainer(spec, field, (container, path) => {
    if (records(container['volumeDevices']).length > 0) path.child('volumeDevices').forbidden(rule);
  });
}

export function hostName(spec: JsonObject, field: Field): void {
  const name = spec['hostnameOverride'];
  if (typeof name !== 'string') return;
  const path = field.child('hostnameOverride');
  if (spec['setHostnameAsFQDN'] === true)
    path.forbidden('may not be specified when setHostnameAsFQDN is true');
  if (spec['hostNetwork'] === true) path.forbidden('may not be specified when hostNetwork is true');
  if (Buffer.byteLength(name) > 64) path.tooLong(64);
  dns1123Subdomain(name, path);
}

const systems = ['linux', 'windows'];

/** What a pod says of its operating system, and what that one lacks. */
export function operatingSystem(spec: JsonObject, field: Field): void {
  const os = spec['os'];
  if (!isRecord(os)) return;
  const name = text(os['name']);
  if (!name) field.child('os', 'name').required();
  else if (!systems.includes(name)) field.child('os').notSupported(name, systems);
  else if (name === 'linux') linux(spec, field);
  else windows(spec, field);
}

function linux(spec: JsonObject, field: Field): void {
  const check = (context: unknown, path: Field) => {
    if (isRecord(at(context, 'windowsOptions')))
      path.child('windowsOptions').forbidden('windows options cannot be set for a linux pod');
  };
  check(spec['securityContext'], field.child('securityContext'));
  eachContainer(spec, field, (container, path) =>
    check(container['securityContext'], path.child('securityContext')),
  );
}

/** In the order of kube-apiserver; those of the pod's own namespaces are fields of its spec. */
const podLevel = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
];
const containerLevel = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

function windows(spec: JsonObject, field: Field): void {
  const rule = 'cannot be set for a windows pod';
  for (const name of podLevel) {
    const value = at(spec, ...name.split('.'));
    const unset = value === undefined || (value === false && ['hostPID', 'hostIPC'].includes(name));
    if (!unset) field.child(name).forbidden(rule);
  }
  eachContainer(spec, field, (container, path) => {
    for (const name of containerLevel) {
      if (at(container, 'securityContext', name) !== undefined)
        path.child('securityContext', name).forbidden(rule);
    }
  });
}
