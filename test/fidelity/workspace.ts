import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Atoll } from '../atoll/atoll.ts';
import { atoll as command, must, mustJson, until } from '../atoll/kubectl.ts';

/** A new child of root; the path of a kubeconfig for it. */
export async function logicalCluster(server: Atoll, name: string): Promise<string> {
  const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  const manifest = join(server.dataDir, `${name}.workspace.json`);
  await writeFile(manifest, JSON.stringify(workspace));
  await must(server.kubeconfig, 'apply', '-f', manifest);
  await until(`workspace ${name} ready`, 30, async () => {
    const { status } = await mustJson<{ status?: { phase?: string } }>(
      server.kubeconfig,
      'get',
      'workspace',
      name,
    );
    return status?.phase === 'Ready';
  });
  const { stdout } = await command(server.kubeconfig, 'kubeconfig', `root:${name}`);
  const kubeconfig = join(server.dataDir, `${name}.kubeconfig`);
  await writeFile(kubeconfig, stdout, { mode: 0o600 });
  return kubeconfig;
}
