import {
  appArmor,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  hostProcess,
  privileged,
  procMount,
  seLinux,
  sysctls,
} from './baseline.ts';
import { type Check, hasUserNamespace, isWindows, type PodLike, unless, type Violation } from './pod.ts';
import type { Standard } from './policy.ts';
import { allowPrivilegeEscalation, fewCapabilities, runAsNonRoot, runAsUser, volumes } from './restricted.ts';
import { seccompAnnotations, seccompBaseline, seccompRestricted } from './seccomp.ts';

/** From which minor version on it is what; of the restricted, instead of which of the baseline. */
interface Dated {
  versions: readonly (readonly [minor: number, check: Check])[];
  instead?: Dated;
}

const seLinuxTypes = ['container_t', 'container_init_t', 'container_kvm_t'];
const safe = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const safe27 = [...safe, 'net.ipv4.ip_local_reserved_ports'];
const keepalive = ['time', 'intvl', 'probes'].map((what) => `net.ipv4.tcp_keepalive_${what}`);
const safe29 = [...safe27, ...keepalive, 'net.ipv4.tcp_fin_timeout'];
const safe32 = [...safe29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

const always = (check: Check): Dated => ({ versions: [[0, check]] });
/** Since 1.25 what Windows does not have is not asked of its pods. */
const notOfWindows = (since: number, check: Check, instead?: Dated): Dated => ({
  versions: [
    [since, check],
    [25, unless(isWindows, check)],
  ],
  ...(instead && { instead }),
});
/** Since 1.35 pods of a user namespace may. */
const notOfUserNamespaces = (since: number, check: Check): Dated => ({
  versions: [
    [since, check],
    [35, unless(hasUserNamespace, check)],
  ],
});

const baselineCapabilities = always(capabilities);
const baselineProcMount = notOfUserNamespaces(0, procMount);
const baselineSeccomp: Dated = {
  versions: [
    [0, seccompAnnotations],
    [19, seccompBaseline],
  ],
};
const baselineHostPaths = always(hostPathVolumes);

/** In the order in which they are told, kube-apiserver's, which is that of their names there. */
const baseline: readonly Dated[] = [
  always(appArmor),
  baselineCapabilities,
  always(hostNamespaces),
  baselineHostPaths,
  always(hostPorts),
  { versions: [[34, hostProbes]] },
  always(privileged),
  baselineProcMount,
  {
    versions: [
      [0, seLinux(seLinuxTypes)],
      [31, seLinux([...seLinuxTypes, 'container_engine_t'])],
    ],
  },
  baselineSeccomp,
  {
    versions: [
      [0, sysctls(safe)],
      [27, sysctls(safe27)],
      [29, sysctls(safe29)],
      [32, sysctls(safe32)],
    ],
  },
  always(hostProcess),
];

const restricted: readonly Dated[] = [
  notOfWindows(8, allowPrivilegeEscalation),
  notOfWindows(22, fewCapabilities, baselineCapabilities),
  { versions: [[35, procMount]], instead: baselineProcMount },
  { versions: [[0, volumes]], instead: baselineHostPaths },
  notOfUserNamespaces(0, runAsNonRoot),
  notOfUserNamespaces(23, runAsUser),
  notOfWindows(19, seccompRestricted, baselineSeccomp),
];

function checksOf({ level, minor }: Standard): Check[] {
  if (level === 'privileged') return [];
  const own = level === 'restricted' ? restricted : [];
  const asked = (one: Dated) => one.versions.findLast(([since]) => since <= minor)?.[1];
  const replaced = new Set(own.filter(asked).map(({ instead }) => instead));
  return [...baseline.filter((one) => !replaced.has(one)), ...own].flatMap((one) => asked(one) ?? []);
}

/** What a pod violates of a standard, in kube-apiserver's order and words. */
export function violationsOf(standard: Standard, pod: PodLike): Violation[] {
  return checksOf(standard).flatMap((check) => check(pod) ?? []);
}

/** `host namespaces (hostNetwork=true), privileged (...)` */
export function inDetail(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
}
