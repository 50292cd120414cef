import { resolve } from 'node:path';
import type { Client } from '../client/client.ts';
import { clustersAnnotation, rootCluster } from '../cluster/names.ts';
import { systemClient } from '../server/client.ts';
import { jsonLogger } from '../server/log.ts';
import type { Settings } from '../server/settings.ts';
import { untilSignal } from '../server/signals.ts';
import { type SimulatedCluster, startSimulatedCluster } from '../sim/cluster.ts';
import { registerCluster } from './cluster.ts';
import { startOrExplain } from './commands/start.ts';
import { untilRunning } from './demo/running.ts';
import { applyShop, deployments, shop, summary } from './demo/shop.ts';
import { print } from './output.ts';
import { namespaces, physicalClusters } from './resources.ts';

const clusters = ['east', 'west'] as const;

/** Shows the whole chain on one screen, then stays up. */
export async function runDemo(settings: Settings): Promise<void> {
  const signal = untilSignal();
  const started = Date.now();
  const step = (text: string) =>
    print(`${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s  ${text}`);
  const running = await startOrExplain(settings);
  step(`API server up at ${running.url}, store in ${settings.dataDir}`);
  const logger = jsonLogger(settings.logLevel);
  const simulated = await Promise.all(
    clusters.map((name, i) => startSimulatedCluster({ name, seed: i + 1, logger })),
  );
  const stop = async () => {
    await running.stop();
    await Promise.all(simulated.map((cluster) => cluster.stop()));
  };
  const shown = show(systemClient(running.server, 'admin', rootCluster), simulated, step);
  // Ctrl-C counts from the first moment on.
  const finished = await Promise.race([shown.then(() => true), signal.then(() => false)]).catch(
    async (error: unknown) => {
      await stop();
      throw error;
    },
  );
  shown.catch(() => {});
  if (finished) {
    print(next(running.kubeconfig));
    print(`Atoll is ready at ${running.url} (KUBECONFIG=${running.kubeconfig}). Ctrl-C stops it.`);
    await signal;
  }
  await stop();
}

async function show(
  client: Client,
  simulated: readonly SimulatedCluster[],
  step: (text: string) => void,
): Promise<void> {
  for (const { name, kubeconfig, url } of simulated) {
    await registerCluster(client, name, kubeconfig);
    // What an earlier demo drained is taken back.
    await client.patch(physicalClusters, { name }, 'merge', { spec: { unschedulable: null, drain: null } });
    step(`physical cluster ${name} joined: simulated, 3 nodes, ${url}`);
  }
  const metadata = { annotations: { [clustersAnnotation]: clusters.join(',') } };
  await client.patch(namespaces, { name: 'default' }, 'merge', { metadata });
  step(`namespace default placed: ${clustersAnnotation}=${clusters.join(',')}`);
  const objects = shop();
  await applyShop(client, objects);
  step(`applied the shop: ${summary(objects)}`);
  await untilRunning(client, deployments, simulated, step);
}

/** Every line works in any directory: `npx atoll` would fetch somebody else's package where this one is not installed. */
function next(kubeconfig: string): string {
  return `
The app runs on ${clusters.join(' and ')}. In another terminal:

  export KUBECONFIG=${kubeconfig}
  alias atoll='${process.execPath} ${resolve(process.argv[1] ?? '')}'
  kubectl get deploy,pods -o wide
  kubectl annotate deploy web ${clustersAnnotation}=west --overwrite   # move it
  kubectl get deploy web -w                                           # and watch: no dip
  kubectl annotate deploy web ${clustersAnnotation}-                   # it follows its namespace again
  atoll drain east                                                    # empty a cluster
  atoll uncordon east                                                 # and take it back
`;
}
