import { at, isRecord, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { internal } from '../internal.ts';
import { localDescendingPath, userId } from '../rules.ts';
import { windowsOptions } from './windows.ts';

const seccompTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function profile(value: unknown, what: string, field: Field): void {
  if (!isRecord(value)) return;
  const type = text(value['type']);
  const setting = what === 'seccomp' ? 'seccompProfile' : 'appArmorProfile';
  if (type === '') field.child('type').required(`type is required when ${setting} is set`);
  else if (!seccompTypes.includes(type)) field.child('type').notSupported(type, seccompTypes);
  const local = value['localhostProfile'];
  const path = field.child('localhostProfile');
  if (what === 'AppArmor' && !seccompTypes.includes(type)) return;
  if (type === 'Localhost') {
    if (what === 'AppArmor') appArmorName(local, path);
    else if (local === undefined) path.required(`must be set when ${what} type is Localhost`);
    else if (what === 'seccomp') localDescendingPath(text(local), path);
  } else if (local !== undefined) {
    const shown = what === 'seccomp' ? internal(value, 'core.SeccompProfile') : local;
    path.invalid(shown, `can only be set when ${what} type is Localhost`);
  }
}

function appArmorName(name: unknown, field: Field): void {
  const given = text(name);
  if (typeof name === 'string' && given.trim() !== given)
    field.invalid(given, 'must not be padded with whitespace');
  else if (!given) field.required('must be set when AppArmor type is Localhost');
  if (Buffer.byteLength(given) > 4095) field.tooLong(4095);
}

/** A container's securityContext. https://kubernetes.io/docs/tasks/configure-pod-container/security-context/ */
export function securityContext(value: unknown, hostUsers: boolean, field: Field): void {
  if (!isRecord(value)) return;
  userId(value['runAsUser'], field.child('runAsUser'));
  userId(value['runAsGroup'], field.child('runAsGroup'));
  const procMount = value['procMount'];
  if (procMount !== undefined) {
    const path = field.child('procMount');
    if (procMount !== 'Default' && procMount !== 'Unmasked')
      path.notSupported(procMount, ['Default', 'Unmasked']);
    if (hostUsers && procMount === 'Unmasked')
      path.invalid(procMount, '`hostUsers` must be false to use `Unmasked`');
  }
  profile(value['seccompProfile'], 'seccomp', field.child('seccompProfile'));
  if (value['allowPrivilegeEscalation'] === false) {
    const rule = 'cannot set `allowPrivilegeEscalation` to false and';
    const refuse = (why: string) => field.invalid(internal(value, 'core.SecurityContext'), `${rule} ${why}`);
    if (value['privileged'] === true) refuse('`privileged` to true');
    for (const capability of strings(at(value, 'capabilities', 'add'))) {
      if (capability === 'CAP_SYS_ADMIN') refuse('`capabilities.Add` CAP_SYS_ADMIN');
    }
  }
  windowsOptions(value['windowsOptions'], field.child('windowsOptions'));
  profile(value['appArmorProfile'], 'AppArmor', field.child('appArmorProfile'));
}

const sysctl = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:[./][a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*$/;

const netSysctl = /^net[./]/;
const ipcSysctl = /^(kernel[./](sem|msg|shm)|fs[./]mqueue[./])/;

function sysctls(value: unknown, spec: unknown, field: Field): void {
  const seen = new Set<string>();
  for (const [index, one] of records(value).entries()) {
    const path = field.index(index).child('name');
    const name = text(one['name']);
    if (!name) path.required();
    else if (!sysctl.test(name) || name.length > 253) {
      const bounds = 'must have at most 253 characters and match regex';
      path.invalid(name, `${bounds} ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`);
    } else if (seen.has(name)) path.duplicate(name);
    if (at(spec, 'hostNetwork') === true && netSysctl.test(name))
      path.invalid(name, "may not be specified when 'hostNetwork' is true");
    else if (at(spec, 'hostIPC') === true && ipcSysctl.test(name))
      path.invalid(name, "may not be specified when 'hostIPC' is true");
    seen.add(name);
  }
}

/** A pod's securityContext. */
export function podSecurityContext(spec: unknown, field: Field): void {
  const value = at(spec, 'securityContext');
  if (!isRecord(value)) return;
  userId(value['fsGroup'], field.child('fsGroup'));
  userId(value['runAsUser'], field.child('runAsUser'));
  userId(value['runAsGroup'], field.child('runAsGroup'));
  const groups = Array.isArray(value['supplementalGroups']) ? value['supplementalGroups'] : [];
  for (const [index, group] of groups.entries())
    userId(group, field.child('supplementalGroups').index(index));
  if (at(spec, 'shareProcessNamespace') === true && at(spec, 'hostPID') === true) {
    const rule = 'ShareProcessNamespace and HostPID cannot both be enabled';
    field.child('shareProcessNamespace').invalid(true, rule);
  }
  sysctls(value['sysctls'], spec, field.child('sysctls'));
  const change = value['fsGroupChangePolicy'];
  if (change !== undefined && change !== 'Always' && change !== 'OnRootMismatch') {
    field.child('fsGroupChangePolicy').notSupported(change, ['Always', 'OnRootMismatch']);
  }
  profile(value['seccompProfile'], 'seccomp', field.child('seccompProfile'));
  windowsOptions(value['windowsOptions'], field.child('windowsOptions'));
  profile(value['appArmorProfile'], 'AppArmor', field.child('appArmorProfile'));
  const groupsPolicy = value['supplementalGroupsPolicy'];
  if (groupsPolicy !== undefined && groupsPolicy !== 'Merge' && groupsPolicy !== 'Strict') {
    field.child('supplementalGroupsPolicy').notSupported(groupsPolicy, ['Merge', 'Strict']);
  }
  const linux = value['seLinuxChangePolicy'];
  if (linux !== undefined && linux !== 'Recursive') {
    field.child('seLinuxChangePolicy').notSupported(linux, ['Recursive']);
  }
}
