import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { type Atoll, bundled, startAtoll } from '../atoll/atoll.ts';
import { configMap, connect } from './load.ts';
import { openPlainWire, type Wire } from './wire.ts';

const workspaces = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' };
const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' };
const seed = '/api/v1/namespaces/default/configmaps/seed';

/** A server with logical clusters of one user each, who is its administrator and nobody elsewhere. */
export interface Tenants {
  server: Atoll;
  /** To the server, for callers of which each asks as one tenant. */
  open(connections: number): Promise<Wire>;
  get(tenant: number): string;
  create(tenant: number, name: string): string;
  stop(): Promise<void>;
}

export async function startTenants(count: number): Promise<Tenants> {
  const folder = await mkdtemp(join(tmpdir(), 'atoll-tenants-'));
  const tokens = join(folder, 'tokens.csv');
  const lines = Array.from({ length: count }, (_, i) => `${tokenOf(i)},user-${i},uid-${i}\n`);
  await writeFile(tokens, lines.join(''), { mode: 0o600 });
  const server = await startAtoll({ program: bundled, args: ['--token-auth-file', tokens] });
  const { client, close } = await connect(server.kubeconfig, 16);
  await Promise.all(
    Array.from({ length: 16 }, async (_, first) => {
      for (let i = first; i < count; i += 16) await makeTenant(client, i);
    }),
  );
  close();
  const { host } = new URL(server.url);
  const head = (i: number) => `Host: ${host}\r\nAuthorization: Bearer ${tokenOf(i)}\r\n`;
  const path = (i: number) => `/clusters/root:tenant-${i}`;
  return {
    server,
    open: (connections) => openPlainWire(server.url, connections),
    get: (i) => `GET ${path(i)}${seed} HTTP/1.1\r\n${head(i)}\r\n`,
    create: (i, name) => {
      const body = JSON.stringify(configMap(name));
      const about = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      return `POST ${path(i)}/api/v1/namespaces/default/configmaps HTTP/1.1\r\n${head(i)}${about}\r\n${body}`;
    },
    stop: async () => {
      await server.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function tokenOf(tenant: number): string {
  return `token-of-tenant-${tenant}`;
}

async function makeTenant(root: Client, i: number): Promise<void> {
  const name = `tenant-${i}`;
  await root.create(workspaces, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
  });
  const ready = async () => {
    const { status } = (await root.get(workspaces, { name })) as { status?: { phase?: string } };
    return status?.phase === 'Ready';
  };
  while (!(await ready())) await sleep(20);
  const own = root.with({ cluster: `root:${name}` });
  await own.create(bindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'owner' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `user-${i}` }],
  } as never);
  await own.create({ group: '', version: 'v1', resource: 'configmaps' }, configMap('seed'));
}
