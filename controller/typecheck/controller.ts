import { setImmediate } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { isMissing } from '../../client/errors.ts';
import type { InformerSet } from '../../client/informers.ts';
import { parseKey } from '../../client/url.ts';
import { type GroupVersionKind, parseApiVersion } from '../../kube/gvk.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, numberAt, textAt } from '../../kube/untyped.ts';
import { runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import { type Checked, type Warning, warningsOf } from './check.ts';
import { kindsToCheck, kindText } from './decide.ts';
import { Kinds } from './kinds.ts';

export interface TypeCheckControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
}

export const policies = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicies',
};
const workers = 2;
const fieldManager = 'validatingadmissionpolicy-status';

function isUnchecked({ metadata, status }: KubeObject): boolean {
  return (metadata.generation ?? 0) > (numberAt(status, 'observedGeneration') ?? 0);
}

/**
 * Woken by ValidatingAdmissionPolicies: tells in the status of each generation of one what its expressions take for what it
 * is not. A schema that changes later wakes nobody, as in Kubernetes. Writes nothing else. Resolves when stopped.
 */
export async function runTypeCheckController(options: TypeCheckControllerOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for(policies);
  const wake = (policy: KubeObject, key: string) => {
    if (isUnchecked(policy)) queue.add(key);
  };
  all.on({ add: wake, update: (policy, _old, key) => wake(policy, key) });
  const reconcile = async (key: string): Promise<void> => {
    const { name } = parseKey(key);
    const target = { cluster: clusterToWrite(informers, key), name };
    try {
      const live = await client.get(policies, target, signal);
      if (!isUnchecked(live)) return;
      const warnings = await warn(live, new Kinds(client, { cluster: target.cluster, signal }), signal);
      const body = applied(live, warnings);
      const how = { fieldManager, force: true, signal };
      await client.patch(policies, { ...target, subresource: 'status' }, 'apply', body, how);
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
  };
  const ready = [all.synced];
  await runController({ name: 'type check', queue, workers, reconcile, signal, logger, ready });
}

async function warn({ spec }: KubeObject, of: Kinds, signal: AbortSignal): Promise<Warning[]> {
  const kinds: { name: string; type: Checked['kinds'][number]['type'] }[] = [];
  for (const [i, kind] of (await kindsToCheck(spec, (resource) => of.kindsFor(resource))).entries()) {
    const type = await of.typeOf(kind, `${kind.kind}${i + 1}`);
    if (type) kinds.push({ name: kindText(kind), type });
  }
  const paramKind = paramKindOf(spec);
  const params = paramKind && ((await of.typeOf(paramKind, `${paramKind.kind}0`)) ?? null);
  // Whatever else is to be done in this process goes first.
  const pause = () => setImmediate(undefined, { signal });
  return await warningsOf(spec, { kinds, params }, pause);
}

function paramKindOf(spec: unknown): GroupVersionKind | undefined {
  if (at(spec, 'paramKind') === undefined) return undefined;
  const kind = textAt(spec, 'paramKind', 'kind') ?? '';
  return { ...parseApiVersion(textAt(spec, 'paramKind', 'apiVersion') ?? ''), kind };
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
