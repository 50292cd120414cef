import { expect, test } from 'vitest';
import { inDetail, violationsOf } from '../../../../kube/pod-security/evaluate.ts';
import { podSecurityOf } from '../../../../kube/pod-security/policy.ts';

/** A standard, a pod's spec and annotations, and what kube-apiserver 1.36.3 has against it. */
const judged: [
  level: string,
  version: string,
  spec: Record<string, unknown>,
  annotations: Record<string, string>,
  violated: string,
][] = [
  ['baseline', 'latest', { containers: [{ name: 'c', image: 'i' }] }, {}, ''],
  [
    'baseline',
    'latest',
    {
      containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }],
      initContainers: [{ name: 'i', image: 'i', securityContext: { privileged: true } }],
      ephemeralContainers: [{ name: 'e', image: 'i', securityContext: { privileged: true } }],
    },
    {},
    'privileged (containers "i", "c", "e" must not set securityContext.privileged=true)',
  ],
  [
    'baseline',
    'latest',
    { hostNetwork: true, hostPID: true, hostIPC: true, containers: [{ name: 'c', image: 'i' }] },
    {},
    'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
  ],
  [
    'baseline',
    'latest',
    {
      volumes: [
        { name: 'v', hostPath: { path: '/' } },
        { name: 'w', emptyDir: {} },
      ],
      containers: [{ name: 'c', image: 'i' }],
    },
    {},
    'hostPath volumes (volume "v")',
  ],
  [
    'baseline',
    'latest',
    {
      containers: [
        {
          name: 'c',
          image: 'i',
          ports: [
            { containerPort: 1, hostPort: 80 },
            { containerPort: 2, hostPort: 9 },
          ],
        },
        { name: 'd', image: 'i', ports: [{ containerPort: 1, hostPort: 0 }] },
      ],
    },
    {},
    'hostPort (container "c" uses hostPorts 80, 9)',
  ],
  [
    'baseline',
    'latest',
    {
      containers: [
        {
          name: 'c',
          image: 'i',
          livenessProbe: { httpGet: { port: 1, host: 'h' } },
          lifecycle: { preStop: { tcpSocket: { port: 1, host: 'g' } } },
        },
      ],
    },
    {},
    'probe or lifecycle host (container "c" uses probe or lifecycle hosts "g", "h")',
  ],
  [
    'baseline',
    'v1.33',
    { containers: [{ name: 'c', image: 'i', livenessProbe: { httpGet: { port: 1, host: 'h' } } }] },
    {},
    '',
  ],
  [
    'baseline',
    'latest',
    { containers: [{ name: 'c', image: 'i', securityContext: { procMount: 'Unmasked' } }] },
    {},
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'baseline',
    'latest',
    { hostUsers: false, containers: [{ name: 'c', image: 'i', securityContext: { procMount: 'Unmasked' } }] },
    {},
    '',
  ],
  [
    'baseline',
    'v1.34',
    { hostUsers: false, containers: [{ name: 'c', image: 'i', securityContext: { procMount: 'Unmasked' } }] },
    {},
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'baseline',
    'latest',
    {
      containers: [
        { name: 'c', image: 'i', securityContext: { capabilities: { add: ['NET_RAW', 'CHOWN', 'BPF'] } } },
      ],
    },
    {},
    'non-default capabilities (container "c" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)',
  ],
  [
    'baseline',
    'latest',
    {
      securityContext: { windowsOptions: { hostProcess: true } },
      containers: [{ name: 'c', image: 'i', securityContext: { windowsOptions: { hostProcess: true } } }],
    },
    {},
    'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  [
    'baseline',
    'latest',
    {
      securityContext: { appArmorProfile: { type: 'Unconfined' } },
      containers: [{ name: 'c', image: 'i', securityContext: { appArmorProfile: { type: 'Localhost' } } }],
    },
    { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' },
    'forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  ],
  [
    'baseline',
    'latest',
    { containers: [{ name: 'c', image: 'i' }] },
    { 'container.apparmor.security.beta.kubernetes.io/c': 'localhost/x' },
    '',
  ],
  [
    'baseline',
    'latest',
    {
      securityContext: { seLinuxOptions: { type: 'x', user: 'u' } },
      containers: [{ name: 'c', image: 'i', securityContext: { seLinuxOptions: { role: 'r' } } }],
    },
    {},
    'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)',
  ],
  [
    'baseline',
    'v1.30',
    {
      containers: [
        { name: 'c', image: 'i', securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
      ],
    },
    {},
    'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
  ],
  [
    'baseline',
    'v1.31',
    {
      containers: [
        { name: 'c', image: 'i', securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
      ],
    },
    {},
    '',
  ],
  [
    'baseline',
    'latest',
    { securityContext: { seccompProfile: { type: 'Unconfined' } }, containers: [{ name: 'c', image: 'i' }] },
    {},
    'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'baseline',
    'v1.18',
    { containers: [{ name: 'c', image: 'i' }] },
    {
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
      'container.seccomp.security.alpha.kubernetes.io/c': 'docker/default',
    },
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
  ],
  [
    'baseline',
    'v1.26',
    {
      securityContext: { sysctls: [{ name: 'net.ipv4.ip_local_reserved_ports', value: '1' }] },
      containers: [{ name: 'c', image: 'i' }],
    },
    {},
    'forbidden sysctls (net.ipv4.ip_local_reserved_ports)',
  ],
  [
    'baseline',
    'v1.27',
    {
      securityContext: { sysctls: [{ name: 'net.ipv4.ip_local_reserved_ports', value: '1' }] },
      containers: [{ name: 'c', image: 'i' }],
    },
    {},
    '',
  ],
  [
    'baseline',
    'v1.31',
    {
      securityContext: {
        sysctls: [
          { name: 'net.ipv4.tcp_rmem', value: '1' },
          { name: 'net.ipv4.tcp_fin_timeout', value: '1' },
        ],
      },
      containers: [{ name: 'c', image: 'i' }],
    },
    {},
    'forbidden sysctls (net.ipv4.tcp_rmem)',
  ],
  [
    'restricted',
    'latest',
    {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
    {},
    '',
  ],
  [
    'restricted',
    'latest',
    { containers: [{ name: 'c', image: 'i' }] },
    {},
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    'restricted',
    'v1.7',
    { containers: [{ name: 'c', image: 'i' }] },
    {},
    'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
  ],
  [
    'restricted',
    'latest',
    {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'CHOWN'] },
          },
        },
        { name: 'd', image: 'i', securityContext: { allowPrivilegeEscalation: true } },
      ],
    },
    {},
    'allowPrivilegeEscalation != false (container "d" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "d" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add)',
  ],
  [
    'restricted',
    'v1.21',
    {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CHOWN', 'BPF'] } },
        },
      ],
    },
    {},
    'non-default capabilities (container "c" must not include "BPF" in securityContext.capabilities.add)',
  ],
  [
    'restricted',
    'latest',
    {
      hostUsers: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            procMount: 'Unmasked',
          },
        },
      ],
    },
    {},
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'restricted',
    'latest',
    {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      volumes: [
        { name: 'a', hostPath: { path: '/' } },
        { name: 'b', nfs: {} },
        { name: 'c', projected: {} },
        { name: 'd' },
      ],
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
    {},
    'restricted volume types (volumes "a", "b", "d" use restricted volume types "hostPath", "nfs", "unknown")',
  ],
  [
    'restricted',
    'latest',
    {
      securityContext: { runAsNonRoot: false, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            runAsNonRoot: false,
          },
        },
      ],
    },
    {},
    'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false)',
  ],
  [
    'restricted',
    'latest',
    {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, runAsUser: 0 },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsUser: 0 },
        },
      ],
    },
    {},
    'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
  ],
  [
    'restricted',
    'latest',
    {
      hostUsers: false,
      securityContext: { seccompProfile: { type: 'Localhost' }, runAsUser: 0 },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
    {},
    '',
  ],
  [
    'restricted',
    'latest',
    {
      securityContext: { runAsNonRoot: true },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'Unconfined' },
          },
        },
        {
          name: 'd',
          image: 'i',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
    {},
    'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'restricted',
    'latest',
    {
      os: { name: 'windows' },
      securityContext: { runAsNonRoot: true },
      containers: [{ name: 'c', image: 'i' }],
    },
    {},
    '',
  ],
  [
    'restricted',
    'v1.24',
    {
      os: { name: 'windows' },
      securityContext: { runAsNonRoot: true },
      containers: [{ name: 'c', image: 'i' }],
    },
    {},
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    'privileged',
    'latest',
    { hostNetwork: true, containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] },
    {},
    '',
  ],
];

test.each(judged)('%s %s: %j %j', (level, version, spec, annotations, violated) => {
  const labels = {
    'pod-security.kubernetes.io/enforce': level,
    'pod-security.kubernetes.io/enforce-version': version,
  };
  const { policy, causes } = podSecurityOf(labels);
  expect(causes).toEqual([]);
  expect(inDetail(violationsOf(policy.enforce, { spec: spec as never, annotations }))).toBe(violated);
});
