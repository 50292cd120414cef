import type { KubeObject } from '../../kube/object.ts';
import { othersFirst } from '../../kube/others.ts';
import { violationsOf } from '../../kube/pod-security/evaluate.ts';
import { isStricter, type Standard, sameStandard, standardName } from '../../kube/pod-security/policy.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { AdmissionRequest } from '../plugins.ts';

const mostPods = 3000;
const perTurn = 100;
const patienceMs = 1000;

/** Pods with the same violations, told by the name of the first. */
interface Alike {
  first: string;
  count: number;
}

/** Warns of pods that would not be taken any more; they stay. */
export async function warnOfPods(
  request: AdmissionRequest,
  { before, now }: { before: Standard; now: Standard },
): Promise<void> {
  if (sameStandard(before, now) || now.level === 'privileged') return;
  if (before.minor === now.minor && !isStricter(now.level, before.level)) return;
  const { cluster, name, registry } = request;
  const pods = prioritized(await registry.recent({ cluster, group: '', resource: 'pods', namespace: name }));
  const { alike, checked } = await judged(pods, now, cluster);
  if (checked < pods.length)
    request.warn(
      `new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`,
    );
  if (alike.size === 0) return;
  request.warn(
    `existing pods in namespace "${name}" violate the new PodSecurity enforce level "${standardName(now)}"`,
  );
  for (const line of [...alike].map(inWords).sort()) request.warn(line);
}

async function judged(pods: readonly KubeObject[], standard: Standard, cluster: string) {
  const alike = new Map<string, Alike>();
  const until = performance.now() + patienceMs;
  let checked = 0;
  for (const pod of pods.slice(0, mostPods)) {
    const { name = '', annotations = {} } = pod.metadata;
    const spec = isRecord(pod.spec) ? pod.spec : {};
    const reasons = violationsOf(standard, { annotations, spec }).map(({ reason }) => reason);
    checked++;
    if (reasons.length > 0) {
      const { first, count } = alike.get(reasons.join(', ')) ?? { first: name, count: 0 };
      alike.set(reasons.join(', '), { first: [name, first].sort()[0] ?? name, count: count + 1 });
    }
    if (checked % perTurn === 0) await othersFirst(cluster);
    if (performance.now() > until) break;
  }
  return { alike, checked };
}

function inWords([reasons, { first, count }]: [string, Alike]): string {
  const others = count - 1;
  if (others === 0) return `${first}: ${reasons}`;
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'}): ${reasons}`;
}

/** One of each controller first. */
function prioritized(pods: readonly KubeObject[]): KubeObject[] {
  const seen = new Set<string>();
  const others: KubeObject[] = [];
  const first = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    const known = owner !== undefined && seen.has(owner);
    if (known) others.push(pod);
    else if (owner !== undefined) seen.add(owner);
    return !known;
  });
  return [...first, ...others];
}
