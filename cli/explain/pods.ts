import { isLost } from '../../cluster/lost.ts';
import { shownLabels } from '../../cluster/policy-summary.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import { at, isRecord, listAt, mapAt, numberAt, textAt } from '../../kube/untyped.ts';

/** As kubectl takes it after -l: which pods are its own. Undefined: it has none, or does not say which. */
export function podSelectorOf({ kind, metadata, spec }: KubeObject): string | undefined {
  if (kind === 'Job') return `batch.kubernetes.io/job-name=${metadata.name}`;
  const selector = at(spec, 'selector');
  if (!isRecord(selector) || !selecting.includes(kind)) return undefined;
  const said: LabelSelector =
    kind === 'ReplicationController'
      ? { matchLabels: mapAt(spec, 'selector') ?? {} }
      : (selector as LabelSelector);
  // An empty one selects all that there is, which is nothing to tell of one object.
  return shownLabels(said) || undefined;
}

const selecting: readonly string[] = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'ReplicationController',
];

/** More pods of one cluster are counted only: their troubles are mostly one. */
const most = 3;
const longest = 240;

/** A line for each of the first pods on `cluster` that are not ready. */
export function troublesOn(cluster: string, pods: readonly KubeObject[]): string[] {
  const ill = pods
    .filter((pod) => reflectedFrom(pod).includes(cluster) && !isWell(pod))
    .map((pod) => `pod ${pod.metadata.name}: ${troubleOf(pod)}`)
    .sort();
  const rest = ill.length - most;
  return rest > 0 ? [...ill.slice(0, most), `and ${rest} more pods that are not ready`] : ill;
}

function isWell({ metadata, status }: KubeObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined ||
    textAt(status, 'phase') === 'Succeeded' ||
    conditionOf(status, 'Ready')?.['status'] === 'True'
  );
}

function conditionOf(status: unknown, type: string) {
  return listAt(status, 'conditions')
    .filter(isRecord)
    .find((condition) => condition['type'] === type);
}

/** Why a pod is not ready, as it says so itself: unschedulable, an image that is not there, a crash; else how far it is. */
function troubleOf(pod: KubeObject): string {
  const { status } = pod;
  if (isLost(pod)) return saidBy(status) ?? 'unknown';
  const scheduled = conditionOf(status, 'PodScheduled');
  if (scheduled?.['status'] === 'False') return saidBy(scheduled) ?? 'not on a node yet';
  const containers = ['initContainerStatuses', 'containerStatuses'].flatMap((list) => listAt(status, list));
  for (const container of containers) {
    const why = waiting(container) ?? ended(container);
    if (why !== undefined) return `container ${textAt(container, 'name') ?? ''}: ${why}`;
  }
  const phase = textAt(status, 'phase') ?? 'not seen by a node yet';
  if (phase !== 'Running') return phase;
  // Which containers, or which readiness gates, keep it from that.
  const why = textAt(conditionOf(status, 'Ready'), 'message') ?? '';
  return why === '' ? 'runs, and is not ready yet' : `runs, and is not ready: ${why.slice(0, longest)}`;
}

/** What controllers there say of pods that they could not make: then there are none that could say it. */
export function refusalOf(status: unknown): string | undefined {
  const failure = conditionOf(status, 'ReplicaFailure');
  return failure?.['status'] === 'True' ? (saidBy(failure) ?? 'no reason was given') : undefined;
}

/** On their way there are these, and nothing is wrong. */
const usual: readonly string[] = ['ContainerCreating', 'PodInitializing'];

function waiting(container: unknown): string | undefined {
  const state = at(container, 'state', 'waiting');
  return usual.includes(textAt(state, 'reason') ?? '') ? undefined : saidBy(state);
}

function ended(container: unknown): string | undefined {
  const state = at(container, 'state', 'terminated');
  const code = numberAt(state, 'exitCode') ?? 0;
  return code === 0 ? undefined : `${saidBy(state) ?? 'ended'} (exit code ${code})`;
}

function saidBy(state: unknown): string | undefined {
  const said = [textAt(state, 'reason'), textAt(state, 'message')].filter(Boolean).join(': ');
  return said === '' ? undefined : said.slice(0, longest);
}
