import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import type { KubeObject } from '../../kube/object.ts';
import { until } from '../atoll/kubectl.ts';
import type { Container } from '../kubelet/container.ts';
import { type Pod, writeInCluster } from '../operators/account.ts';

export interface SamplePodOptions {
  /** Where test/aggregation/build put it. */
  built: string;
  /** Of the cluster that runs the pod. */
  physical: string;
  /** At which it listens in place of the pod's 443. */
  port: number;
  etcd: string;
  dir: string;
}

/** Kubernetes' sample API server as the container of a pod, with what the pod finds in its cluster; once it is ready. */
export async function runSample(
  { built, physical, port, etcd, dir }: SamplePodOptions,
  pod: KubeObject,
): Promise<Container> {
  const own = join(dir, pod.metadata.uid ?? '');
  await mkdir(own, { recursive: true });
  const account = join(own, 'kubeconfig');
  await writeInCluster(physical, pod as unknown as Pod, account);
  const log = await open(join(own, 'log'), 'a');
  const kubeconfigs = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
  const flags = [
    `--etcd-servers=http://${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${own}`,
    ...kubeconfigs.map((flag) => `--${flag}=${account}`),
  ];
  const child = spawn(join(built, 'sample-apiserver'), flags, { stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  const ended = once(child, 'exit');
  const kill = () => void child.kill('SIGKILL');
  try {
    await until('the sample API server is ready', 60, () => isReady(port));
  } catch (error) {
    kill();
    const said = (await readFile(join(own, 'log'), 'utf8')).slice(-3000);
    throw new Error(`the sample API server said:\n${said}`, { cause: error });
  }
  return {
    kill,
    terminate: async (graceMs) => {
      child.kill('SIGTERM');
      const late = setTimeout(kill, graceMs);
      await ended;
      clearTimeout(late);
    },
  };
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false };
    const asked = https.get(options, (answer) => {
      answer.resume();
      // Whoever is nobody may not ask, and is told so by a server that is there.
      resolve(answer.statusCode === 200);
    });
    asked.on('error', reject);
  });
}
