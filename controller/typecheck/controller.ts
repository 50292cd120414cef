import type { Client } from '../../client/client.ts';
import { isMissing } from '../../client/errors.ts';
import type { InformerSet } from '../../client/informers.ts';
import { parseKey } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { AtOnce } from './at-once.ts';
import type { Warning } from './check.ts';
import { checked, type Found, isUnchecked, policies } from './look.ts';

export interface TypeCheckControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** Of all in this process: each takes what all have in common. Default: it has its own. */
  checks?: AtOnce;
}

const workers = 2;
const mostAtOnce = 2;
/** So often in vain, and what is not known of its kinds by then is not waited for. */
const mostTries = 10;
const fieldManager = 'validatingadmissionpolicy-status';

/**
 * Woken by ValidatingAdmissionPolicies: tells in the status of each generation of one what its expressions take for what it
 * is not. A schema that changes later wakes nobody, as in Kubernetes. Writes nothing else. Resolves when stopped.
 */
export async function runTypeCheckController(options: TypeCheckControllerOptions): Promise<void> {
  const { client, informers, signal, logger, checks = typeChecks() } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(1) });
  const all = informers.for(policies);
  const wake = (policy: KubeObject, key: string) => {
    if (isUnchecked(policy)) queue.add(key);
  };
  all.on({ add: wake, update: (policy, _old, key) => wake(policy, key) });
  const reconcile = async (key: string): Promise<void> => {
    const known = all.get(key);
    if (!known || !isUnchecked(known)) return;
    const { name } = parseKey(key);
    const target = { cluster: clusterToWrite(informers, key), name };
    const isLastTry = queue.failures(key) >= mostTries;
    const check = { client, signal, logger, key, target, isLastTry, cached: () => all.get(key) };
    try {
      const found = await checks.run(() => checked(check));
      if (found) await tell(client, target, found, signal);
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
  };
  const ready = [all.synced];
  await runController({ name: 'type check', queue, workers, reconcile, signal, logger, ready });
}

/** For all type check controllers of a process. */
export function typeChecks(): AtOnce {
  return new AtOnce(mostAtOnce);
}

/** One whose warnings cannot be written is told, at least, to be looked at. */
async function tell(
  client: Client,
  target: { cluster: string | undefined; name: string },
  { of, warnings }: Found,
  signal: AbortSignal,
): Promise<void> {
  const write = async (some: readonly Warning[]) => {
    const how = { fieldManager, force: true, signal };
    await client.patch(policies, { ...target, subresource: 'status' }, 'apply', applied(of, some), how);
  };
  try {
    await write(warnings);
  } catch (error) {
    const isRefused = isStatusError(error) && [400, 413, 422].includes(error.code);
    if (!isRefused || warnings.length === 0) throw error;
    await write([]);
  }
}

/** With the uid: what another of the same name has to hear is not in it. */
function applied({ metadata }: KubeObject, warnings: readonly Warning[]): object {
  const { name, uid, generation } = metadata;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, uid },
    status: {
      observedGeneration: generation,
      typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : {},
    },
  };
}
