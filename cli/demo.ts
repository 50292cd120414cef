import { resolve } from 'node:path';
import { Client } from '../client/client.ts';
import { transportFromKubeconfig } from '../client/kubeconfig.ts';
import { clustersAnnotation, rootCluster } from '../cluster/names.ts';
import type { Logger } from '../kube/log.ts';
import { adminUser } from '../server/identity.ts';
import { jsonLogger } from '../server/log.ts';
import type { Settings } from '../server/settings.ts';
import { untilSignal } from '../server/signals.ts';
import { simulateApart } from '../sim/apart.ts';
import type { DistantCluster } from '../sim/messages.ts';
import { registerCluster } from './cluster.ts';
import { inTheLog, startOrExplain } from './commands/start.ts';
import { copyBetween, demoCopier } from './demo/copier.ts';
import { untilRunning } from './demo/running.ts';
import { applyShop, deployments, shop, summary } from './demo/shop.ts';
import { print } from './output.ts';
import { namespaces, physicalClusters } from './resources.ts';

/** How much of a world is simulated. */
export interface DemoSize {
  clusters: number;
  nodes: number;
}

const names = ['east', 'west', 'north', 'south'];
/** So many clusters run the app. */
const placed = 2;

/** Shows the whole chain on one screen, then stays up, also where the data directory holds what stands in its way. */
export function runDemo(settings: Settings, size: DemoSize): Promise<void> {
  const logger = jsonLogger(settings.logLevel);
  return inTheLog(logger, () => demonstrate(settings, size, logger));
}

async function demonstrate(settings: Settings, size: DemoSize, logger: Logger): Promise<void> {
  const signal = untilSignal();
  const started = Date.now();
  const step = (text: string) =>
    print(`${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s  ${text}`);
  const running = await startOrExplain(settings, logger);
  step(`API server up at ${running.url}, store in ${settings.dataDir}`);
  const simulation = await simulateApart(
    Array.from({ length: size.clusters }, (_, i) => {
      return { name: names[i] ?? `cluster-${i + 1}`, nodes: size.nodes, seed: i + 1 };
    }),
    logger,
  );
  const copying = new AbortController();
  const copier = copyBetween(simulation.clusters, {
    transport: running.server.transport(adminUser),
    signal: copying.signal,
    logger,
  }).catch((err: unknown) => logger.error({ err }, 'the simulated copier stopped'));
  const stop = async () => {
    copying.abort();
    await copier;
    await running.stop();
    await simulation.stop();
  };
  const client = new Client(running.server.transport(adminUser), { cluster: rootCluster });
  const shown = show(client, simulation.clusters, size, step).catch((error: unknown) => {
    step(`the app is not shown: ${(error as Error).message}`);
  });
  // Ctrl-C counts from the first moment on.
  const finished = await Promise.race([shown.then(() => true), signal.then(() => false)]);
  if (finished) {
    print(next(running.kubeconfig, simulation.clusters));
    print(`Atoll is ready at ${running.url} (KUBECONFIG=${running.kubeconfig}). Ctrl-C stops it.`);
    await signal;
  }
  await stop();
}

async function show(
  client: Client,
  simulated: readonly DistantCluster[],
  size: DemoSize,
  step: (text: string) => void,
): Promise<void> {
  for (const { name, kubeconfig, url } of simulated) {
    await registerCluster(client, name, kubeconfig);
    // What an earlier demo drained is taken back.
    await client.patch(physicalClusters, { name }, 'merge', {
      spec: { unschedulable: null, drain: null, copier: demoCopier },
    });
    // What is simulated begins anew each time: that of an earlier demo runs no more.
    const status = { clusterUID: null };
    await client.patch(physicalClusters, { name, subresource: 'status' }, 'merge', { status });
    step(`physical cluster ${name} joined: simulated, ${counted(size.nodes, 'node')}, ${url}`);
  }
  const shown = simulated.slice(0, placed);
  const clusters = shown.map(({ name }) => name).join(',');
  const metadata = { annotations: { [clustersAnnotation]: clusters } };
  await client.patch(namespaces, { name: 'default' }, 'merge', { metadata });
  step(`namespace default placed: ${clustersAnnotation}=${clusters}`);
  const objects = shop();
  await applyShop(client, objects);
  step(`applied the shop: ${summary(objects)}`);
  const physical = await Promise.all(shown.map(reached));
  await untilRunning(client, deployments, physical, step).finally(() => {
    for (const { close } of physical) close();
  });
}

async function reached({ name, kubeconfig }: DistantCluster) {
  const transport = await transportFromKubeconfig(kubeconfig);
  return { name, client: new Client(transport), close: () => transport.close() };
}

/** Every line works in any directory: `npx atoll` would fetch somebody else's package where this one is not installed. */
function next(kubeconfig: string, simulated: readonly DistantCluster[]): string {
  const [first = '', last = first] = simulated.slice(0, placed).map(({ name }) => name);
  return `
In another terminal:

  export KUBECONFIG=${kubeconfig}
  alias atoll='${process.execPath} ${resolve(process.argv[1] ?? '')}'
  kubectl get deploy,pods -o wide
  kubectl annotate deploy web ${clustersAnnotation}=${last} --overwrite   # move it
  kubectl get deploy web -w                                           # and watch: no dip
  kubectl annotate deploy web ${clustersAnnotation}-                   # it follows its namespace again
  atoll drain ${first}                                                    # empty a cluster
  atoll uncordon ${first}                                                 # and take it back
`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
