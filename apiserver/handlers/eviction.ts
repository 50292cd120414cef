import { isReflected } from '../../cluster/reflected.ts';
import { sleep } from '../../kube/clock.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type LabelSelector, labelSelectorFromObject } from '../../kube/selector.ts';
import { badRequest, isStatusError, StatusError } from '../../kube/status.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { ResourceExchange } from '../core.ts';
import { checkDeleteOptions } from '../decode/delete-options.ts';
import { decodeStored } from '../registry/codec.ts';
import { deleteObject } from '../registry/delete.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { spares, spend, stillProcessed } from './pods/budget.ts';
import { evictRunningPod } from './pods/forward.ts';
import { untilShown } from './pods/until-shown.ts';
import { postedObject, respondSuccess } from './writes/posted.ts';

const budgets = { group: 'policy', resource: 'poddisruptionbudgets' };
const kind = { group: 'policy', version: 'v1', kind: 'Eviction' };

/**
 * POST pods/eviction: a deletion, as far as PodDisruptionBudgets allow it. Of a pod that runs on a physical cluster
 * that cluster's budgets decide. https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
export async function handleEviction(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored } = exchange;
  const { object, query, admission } = await postedObject(exchange, kind, ['policy/v1beta1']);
  if (object.metadata.name !== info.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  await admission.validate(object, undefined);
  const given = isRecord(object['deleteOptions']) ? object['deleteOptions'] : {};
  const asked = checkDeleteOptions(given, info.query);
  const options: DeleteOptions = { ...asked, dryRun: asked.dryRun === true || query.dryRun };
  const pod = decodeStored(await core.registry.read(stored, info));
  // What is refused here must not have stopped there by then.
  if (core.connectPod && !isReflected(pod)) await evict(exchange, { ...options, dryRun: true });
  const forwarded = await evictThere(exchange, pod, given, options);
  if (forwarded && (forwarded.status >= 300 || options.dryRun)) return forwarded;
  if (forwarded && isReflected(pod)) {
    await untilShown(exchange, [pod]);
    return forwarded;
  }
  if (forwarded) {
    // It is stopped there: placed here, it would be started again.
    await evict(exchange, options).catch((error) => {
      if (!isStatusError(error, 'NotFound')) throw error;
    });
    return forwarded;
  }
  const guard = isOver(pod) ? undefined : await budgetOf(exchange, pod);
  const spared = guard !== undefined && spares(guard, pod);
  if (guard !== undefined && !spared) await charge(exchange, guard, options.dryRun === true);
  // A pod that became ready since it was looked at would be a loss.
  const pinned = spared && options.resourceVersion === undefined;
  await evict(exchange, {
    ...options,
    ...(pinned && { resourceVersion: pod.metadata.resourceVersion ?? '' }),
  }).catch((error) => {
    throw pinned && isStatusError(error, 'Conflict') ? stillProcessed(guard.metadata.name ?? '') : error;
  });
  return respondSuccess(exchange);
}

const goneMs = 5_000;
const againMs = 100;

/**
 * Where it runs, as soon as the budgets there are those that are here: one that was deleted here refuses there until it
 * has gone there too.
 */
async function evictThere(
  exchange: ResourceExchange,
  pod: KubeObject,
  given: object,
  options: DeleteOptions,
): Promise<ApiResponse | undefined> {
  const { core, request } = exchange;
  const end = Date.now() + goneMs;
  const signal = request.signal ?? core.closing;
  for (;;) {
    const answer = await evictRunningPod(exchange, pod, given, options);
    const isOver = signal.aborted || Date.now() > end;
    if (answer?.status !== 429 || isOver || (await budgetOf(exchange, pod))) return answer;
    await sleep(againMs, signal);
  }
}

/** Says on the pod why it goes, then deletes it. */
async function evict(exchange: ResourceExchange, options: DeleteOptions): Promise<void> {
  const { core, info } = exchange;
  const { cluster, namespace, name } = info;
  const at = { cluster, namespace, name, group: '', resource: 'pods' };
  if (options.dryRun) return deletePod(exchange, options);
  const now = timestamp(new Date());
  const marked = await core.registry.update(at, (pod) => withCondition(pod, options, now), {
    subresource: 'status',
  });
  const { resourceVersion } = marked.metadata;
  const pinned = options.resourceVersion !== undefined && resourceVersion !== undefined;
  await deletePod(exchange, { ...options, ...(pinned && { resourceVersion }) });
}

/** Admission was asked of the eviction; of the deletion it is not. */
async function deletePod(exchange: ResourceExchange, options: DeleteOptions): Promise<void> {
  const { core, info, stored, longTurn } = exchange;
  const { cluster, namespace, name } = info;
  await deleteObject(core.registry, stored, { cluster, namespace, name }, { ...options, longTurn });
}

function withCondition(pod: KubeObject, options: DeleteOptions, now: string): KubeObject {
  const { uid, resourceVersion, name = '' } = pod.metadata;
  const refuse = (why: string) =>
    new StatusError(409, 'Conflict', `Operation cannot be fulfilled on Pod ${JSON.stringify(name)}: ${why}`, {
      name,
      kind: 'Pod',
    });
  if (options.uid !== undefined && options.uid !== uid) {
    throw refuse(
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw refuse(
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
  const status = (pod.status ?? {}) as { conditions?: { type?: string }[] };
  const conditions = (status.conditions ?? []).filter((one) => one.type !== 'DisruptionTarget');
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  return { ...pod, status: { ...status, conditions: [...conditions, target] } };
}

/** Its end disrupts nobody any more, or nobody yet. */
function isOver(pod: KubeObject): boolean {
  const { phase = '' } = (pod.status ?? {}) as { phase?: string };
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

async function budgetOf({ core, info }: ResourceExchange, pod: KubeObject): Promise<KubeObject | undefined> {
  const { cluster, namespace } = info;
  const { items } = await core.registry.list({ ...budgets, cluster, namespace });
  const guards = items.filter(({ spec }) => {
    const { selector } = (spec ?? {}) as { selector?: LabelSelector };
    return labelSelectorFromObject(selector).matches(pod.metadata.labels ?? {});
  });
  if (guards.length > 1) {
    const why =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new StatusError(500, '', why);
  }
  return guards[0];
}

/** Takes one disruption from the budget, in one write: two evictions at once cannot both have the last. */
async function charge({ core, info }: ResourceExchange, guard: KubeObject, dryRun: boolean): Promise<void> {
  const { cluster, namespace } = info;
  const at = { ...budgets, cluster, namespace, name: guard.metadata.name ?? '' };
  const take = (budget: KubeObject) => ({
    ...budget,
    status: spend(budget, info.name, timestamp(new Date())),
  });
  await core.registry.update(at, take, { subresource: 'status', dryRun });
}
