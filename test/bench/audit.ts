import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundled, startAtoll } from '../atoll/atoll.ts';
import { pidsOf } from './peers.ts';

const policies = {
  'at Metadata': 'rules: [{level: Metadata}]',
  'at Metadata, ResponseComplete alone': 'omitStages: [RequestReceived]\nrules: [{level: Metadata}]',
};

export const auditPolicies: readonly string[] = Object.keys(policies);

/** Two servers that differ in nothing but that the first one keeps an audit log. */
export async function startAudited(name: string) {
  const directory = await mkdtemp(join(tmpdir(), 'atoll-audit-'));
  const policy = join(directory, 'policy.yaml');
  const rules = policies[name as keyof typeof policies];
  await writeFile(policy, `apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}\n`);
  const log = join(directory, 'audit.log');
  const args = ['--audit-policy-file', policy, '--audit-log-path', log, '--audit-log-maxbackup', '1'];
  const audited = await startAtoll({ program: bundled, args });
  const plain = await startAtoll({ program: bundled });
  const both = [
    { name: 'audited', kubeconfig: audited.kubeconfig, pids: () => pidsOf(audited) },
    { name: 'plain', kubeconfig: plain.kubeconfig, pids: () => pidsOf(plain) },
  ] as const;
  const stop = async () => {
    await audited.dispose();
    await plain.dispose();
    await rm(directory, { recursive: true, force: true });
  };
  return { both, stop };
}
