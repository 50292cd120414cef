import { setMaxListeners } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { carryForward } from '../apiserver/migration/format.ts';
import type { ApiServer } from '../apiserver/options.ts';
import { createApiServer } from '../apiserver/server.ts';
import { controllersUser } from '../cluster/names.ts';
import type { Logger } from '../kube/log.ts';
import { openStore } from '../storage/open.ts';
import { startSelfCheck } from '../storage/self-check.ts';
import type { Store } from '../storage/store.ts';
import { apiOptions } from './api.ts';
import { loadAuthentication } from './authentication/load.ts';
import { loadAuthorization } from './authorization/load.ts';
import { type Behind, controlled } from './behind.ts';
import { etcdCertificate } from './certificate-files.ts';
import { Certificates } from './certificates.ts';
import { systemClient } from './client.ts';
import { loadEncryption } from './encryption.ts';
import { boundGarbage, gatherWhileBusy } from './heap.ts';
import { type Identity, loadIdentity } from './identity.ts';
import { adminKubeconfig } from './kubeconfig.ts';
import { keepLimits } from './limits.ts';
import { certificateFamilies } from './metrics/certificates.ts';
import { startCounting } from './metrics/start.ts';
import { writePrivate } from './private-file.ts';
import { untilReady } from './ready.ts';
import { loadRecorders, type Recorders } from './recorders.ts';
import { Pool } from './serving/pool.ts';
import type { Settings } from './settings.ts';
import type { SyncerManager } from './syncers.ts';
import { TakenFiles } from './taken-files.ts';

export interface RunningServer {
  url: string;
  kubeconfig: string;
  server: ApiServer;
  stop(): Promise<void>;
}

/**
 * Opens the store, serves the API, starts the controllers and syncers, writes DIR/admin.kubeconfig, and returns
 * once /readyz answers 200, or has not for five seconds. `stop` ends them in the opposite order: nothing that was acknowledged is lost.
 */
export async function runServer(settings: Settings, logger: Logger): Promise<RunningServer> {
  const { dataDir, listen } = settings;
  boundGarbage();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const stop = new AbortController();
  // One listener for each controller, informer and request that runs until the end.
  setMaxListeners(0, stop.signal);
  const { signal } = stop;
  const loading = { settings, files: new TakenFiles(), logger, signal };
  const encryption = await loadEncryption(loading);
  const stored = await openStored(settings, logger);
  gatherWhileBusy();
  const { ledger, gate } = keepLimits(stored, settings, signal);
  const store = encryption.over(ledger.store);
  const certified = carryForward(store, logger).then(() => certify(store, settings, logger));
  const { identity, certificates } = await orClose(store, certified);
  startSelfCheck(store, { signal: stop.signal, logger });
  let syncers: SyncerManager | undefined;
  const more = [encryption.families, () => certificateFamilies(certificates.expirations)];
  const counting = startCounting(store, () => syncers, more);
  const authentication = await orClose(store, loadAuthentication(loading));
  const authorizers = await orClose(store, loadAuthorization(loading));
  const { metrics } = counting;
  const recorders = await orClose(store, loadRecorders({ ...loading, part: 'first', metrics }));
  const own = { ...loading, store, stored, identity };
  const server: ApiServer = createApiServer(
    apiOptions({
      ...own,
      authentication,
      authorizers,
      encryption,
      syncers: () => syncers,
      scheduling: () => systemClient(server, controllersUser),
      gate,
      ...recorders,
      ...counting,
    }),
  );
  const listening = await orClose(store, server.listen({ ...listen, tls: certificates.tls }));
  const url = advertised(listening.url, settings);
  const tls = () => certificates.tls;
  const among = (processes: number) => server.among(processes);
  const pool = new Pool({ ...loading, listening, ledger, tls, among, ...counting });
  const known = { ...settings, listen: { ...listen, port: portOf(listening.url) } };
  const rootCa = certificates.trusted;
  const behind = await controlled({ ...own, server, settings: known, url, rootCa, stop, counting });
  syncers = behind.syncers;
  const kubeconfig = join(dataDir, 'admin.kubeconfig');
  const write = () => writePrivate(kubeconfig, kubeconfigOf(identity, certificates, url));
  await write();
  await untilReady(server, logger);
  void certificates.follow(stop.signal, async () => {
    listening.show(certificates.tls);
    pool.show(certificates.tls);
    await write();
  });
  return {
    url,
    kubeconfig,
    server,
    stop: () => end({ server, pool, behind, store, stop, settings, recorders }),
  };
}

function openStored({ storage, diskReserve: reserveBytes, memoryBudget }: Settings, logger: Logger) {
  return openStore(storage, { logger, reserveBytes, ...(memoryBudget !== undefined && { memoryBudget }) });
}

function portOf(url: string): number {
  return Number(new URL(url).port || 443);
}

/** What follows waits for `work`; where that fails, whoever may try again finds the store free. */
async function orClose<T>(store: Store, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** In the opposite order of the start. */
async function end(parts: {
  server: ApiServer;
  pool: Pool;
  behind: Behind;
  store: Store;
  stop: AbortController;
  settings: Settings;
  recorders: Recorders;
}): Promise<void> {
  const { server, pool, behind, store, stop, settings, recorders } = parts;
  server.drain();
  pool.drain();
  await setTimeout(settings.shutdownDelay * 1000);
  stop.abort();
  // Whom they answered last comes to this one, which listens for longest.
  await Promise.all([behind.stopped(), pool.stop()]);
  await Promise.all([server.close(), pool.stopped()]);
  await recorders.close();
  await store.close();
}

async function certify(store: Store, settings: Settings, logger: Logger) {
  const { listen, dataDir, advertise, tlsSan, certificateFiles } = settings;
  const names = [...(advertise ? [advertise.host] : []), ...tlsSan];
  const identity = await loadIdentity(store, listen.host, dataDir, names);
  const proxyCaFile = settings.requestHeader?.clientCaFile;
  const etcdFile = etcdCertificate(settings.storage);
  const of = { identity, files: certificateFiles, proxyCaFile, etcdFile, logger };
  return { identity, certificates: await Certificates.load(of) };
}

/** Where clients find a server that listens at `url`, which none can connect to if it says "all of this machine's". */
export function advertised(url: string, { advertise }: Settings): string {
  if (!advertise) return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const { host, port = new URL(url).port } = advertise;
  // A URL with the port 443 has none.
  return `https://${isIP(host) === 6 ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`;
}

function kubeconfigOf(identity: Identity, certificates: Certificates, server: string): string {
  const { certificate, privateKey } = certificates.admin;
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  const tlsServerName = certificates.nameFor(host);
  const { adminToken: token } = identity;
  return adminKubeconfig({ server, ca: certificates.trusted, tlsServerName, certificate, privateKey, token });
}
