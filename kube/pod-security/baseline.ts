import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { at, int, records, strings, text, textAt } from '../untyped.ts';
import {
  type Check,
  containersNamed,
  containersOf,
  containersThat,
  nameOf,
  type PodLike,
  plural,
  quoted,
  securityAt,
  setters,
  sortedSet,
} from './pod.ts';

/* The checks of https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline, in kube-apiserver's words. */

export const privileged: Check = (pod) => {
  const bad = containersThat(pod, (one) => securityAt(one, 'privileged') === true);
  if (bad.length === 0) return undefined;
  return {
    reason: 'privileged',
    detail: `${containersNamed(bad)} must not set securityContext.privileged=true`,
  };
};

export const hostNamespaces: Check = ({ spec }) => {
  const bad = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true);
  if (bad.length === 0) return undefined;
  return { reason: 'host namespaces', detail: bad.map((field) => `${field}=true`).join(', ') };
};

export const hostPathVolumes: Check = ({ spec }) => {
  const bad = records(spec['volumes']).filter((volume) => volume['hostPath'] != null);
  if (bad.length === 0) return undefined;
  return {
    reason: 'hostPath volumes',
    detail: `${plural('volume', 'volumes', bad)} ${quoted(bad.map(nameOf))}`,
  };
};

export const hostPorts: Check = (pod) => {
  const portsOf = (one: JsonObject) =>
    records(one['ports'])
      .map((port) => int(port['hostPort']))
      .filter((port) => port !== 0);
  const bad = containersThat(pod, (one) => portsOf(one).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sortedSet(containersOf(pod).flatMap(portsOf).map(String));
  const use = `${plural('uses', 'use', bad)} ${plural('hostPort', 'hostPorts', ports)} ${ports.join(', ')}`;
  return { reason: 'hostPort', detail: `${containersNamed(bad)} ${use}` };
};

/** Of probes and hooks that ask another host. */
export const hostProbes: Check = (pod) => {
  const asked = [
    ['livenessProbe'],
    ['readinessProbe'],
    ['startupProbe'],
    ['lifecycle', 'postStart'],
    ['lifecycle', 'preStop'],
  ];
  const hostsOf = (one: JsonObject) =>
    asked
      .flatMap((path) => ['httpGet', 'tcpSocket'].map((how) => textAt(one, ...path, how, 'host') ?? ''))
      .filter((host) => host !== '');
  const bad = sortedSet(containersThat(pod, (one) => hostsOf(one).length > 0));
  if (bad.length === 0) return undefined;
  const hosts = sortedSet(containersOf(pod).flatMap(hostsOf));
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts);
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersNamed(bad)} ${plural('uses', 'use', bad)} ${what} ${quoted(hosts)}`,
  };
};

export const procMount: Check = (pod) => {
  const of = (one: JsonObject) => textAt(one, 'securityContext', 'procMount') ?? 'Default';
  const bad = containersThat(pod, (one) => of(one) !== 'Default');
  if (bad.length === 0) return undefined;
  const types = sortedSet(
    containersOf(pod)
      .map(of)
      .filter((type) => type !== 'Default'),
  );
  return {
    reason: 'procMount',
    detail: `${containersNamed(bad)} must not set securityContext.procMount to ${quoted(types)}`,
  };
};

const defaultCapabilities =
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  );

export const capabilities: Check = (pod) => {
  const extraOf = (one: JsonObject) =>
    strings(securityAt(one, 'capabilities', 'add')).filter((name) => !defaultCapabilities.includes(name));
  const bad = containersThat(pod, (one) => extraOf(one).length > 0);
  if (bad.length === 0) return undefined;
  const extra = sortedSet(containersOf(pod).flatMap(extraOf));
  return {
    reason: 'non-default capabilities',
    detail: `${containersNamed(bad)} must not include ${quoted(extra)} in securityContext.capabilities.add`,
  };
};

export const hostProcess: Check = (pod) => {
  const sets = (of: JsonObject) => securityAt(of, 'windowsOptions', 'hostProcess') === true;
  const bad = setters(sets(pod.spec), containersThat(pod, sets));
  if (bad === '') return undefined;
  return {
    reason: 'hostProcess',
    detail: `${bad} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/';

export const appArmor: Check = (pod) => {
  const typeOf = (of: JsonObject) => {
    const profile = securityAt(of, 'appArmorProfile');
    return profile == null ? 'RuntimeDefault' : text(at(profile, 'type'));
  };
  const isBad = (of: JsonObject) => !['RuntimeDefault', 'Localhost'].includes(typeOf(of));
  const all = [pod.spec, ...containersOf(pod)];
  const isGood = (value: string) =>
    value === '' || value === 'runtime/default' || value.startsWith('localhost/');
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(appArmorAnnotation) && !isGood(value))
    .map(([key, value]) => `${key}=${quoteGo(value)}`)
    .sort();
  const fields = setters(isBad(pod.spec), containersThat(pod, isBad));
  const bad = [
    ...(fields === '' ? [] : [fields]),
    ...(annotations.length > 0 ? [plural('annotation', 'annotations', annotations)] : []),
  ];
  if (bad.length === 0) return undefined;
  const values = [...sortedSet(all.filter(isBad).map(typeOf)), ...annotations];
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values),
    detail: `${bad.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

export function seLinux(types: readonly string[]): Check {
  return (pod) => {
    const all = [pod.spec, ...containersOf(pod)].map((of) => securityAt(of, 'seLinuxOptions'));
    const bad = (options: unknown, field: string) => {
      const value = textAt(options, field) ?? '';
      return value !== '' && !(field === 'type' && types.includes(value));
    };
    const isBad = (of: JsonObject) =>
      ['type', 'user', 'role'].some((field) => bad(securityAt(of, 'seLinuxOptions'), field));
    const who = setters(isBad(pod.spec), containersThat(pod, isBad));
    if (who === '') return undefined;
    const wrong = sortedSet(
      all.filter((options) => bad(options, 'type')).map((options) => textAt(options, 'type') ?? ''),
    );
    const what = [
      ...(wrong.length > 0 ? [`${plural('type', 'types', wrong)} ${quoted(wrong)}`] : []),
      ...['user', 'role']
        .filter((field) => all.some((options) => bad(options, field)))
        .map((f) => `${f} may not be set`),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    };
  };
}

export function sysctls(allowed: readonly string[]): Check {
  return ({ spec }: PodLike) => {
    const bad = records(securityAt(spec, 'sysctls'))
      .map(nameOf)
      .filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };
}
