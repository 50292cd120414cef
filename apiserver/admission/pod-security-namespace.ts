import type { KubeObject } from '../../kube/object.ts';
import { Pace } from '../../kube/others-first.ts';
import { violationsOf } from '../../kube/pod-security/evaluate.ts';
import { isStricter, type Standard, sameStandard, standardName } from '../../kube/pod-security/policy.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { AdmissionRequest } from '../plugins.ts';
import type { Unread } from '../registry/types.ts';

const mostPods = 3000;
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
  const { items, total } = await registry.unread(
    { cluster, group: '', resource: 'pods', namespace: name },
    mostPods,
  );
  const { alike, checked } = await judged(items, now, cluster);
  if (checked < total)
    request.warn(
      `new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`,
    );
  if (alike.size === 0) return;
  request.warn(
    `existing pods in namespace "${name}" violate the new PodSecurity enforce level "${standardName(now)}"`,
  );
  for (const line of [...alike].map(inWords).sort()) request.warn(line);
}

/** One of each controller first, for half of the time, then the others: whoever has many pods has many that are alike. */
async function judged(pods: readonly Unread[], standard: Standard, cluster: string) {
  const alike = new Map<string, Alike>();
  const owners = new Set<string>();
  const others: Unread[] = [];
  const pace = new Pace(cluster);
  const since = performance.now();
  let checked = 0;
  const judge = (pod: KubeObject) => {
    checked++;
    note(pod, standard, alike);
  };
  const left = await inTurns(pods, since + patienceMs / 2, pace, (pod, unread) => {
    if (isAnother(pod, owners)) others.push(unread);
    else judge(pod);
  });
  await inTurns([...left, ...others], since + patienceMs, pace, judge);
  return { alike, checked };
}

/** Reads one after the other until it is time, and lets others go first in between; those that are left. */
async function inTurns(
  pods: readonly Unread[],
  until: number,
  pace: Pace,
  act: (pod: KubeObject, unread: Unread) => void,
): Promise<readonly Unread[]> {
  for (const [at, unread] of pods.entries()) {
    if (performance.now() > until) return pods.slice(at);
    act(unread.read(), unread);
    const others = pace.after(unread.bytes);
    if (others) await others;
  }
  return [];
}

function note({ metadata, spec }: KubeObject, standard: Standard, alike: Map<string, Alike>): void {
  const { name = '', annotations = {} } = metadata;
  const found = violationsOf(standard, { annotations, spec: isRecord(spec) ? spec : {} });
  if (found.length === 0) return;
  const reasons = found.map(({ reason }) => reason).join(', ');
  const { first, count } = alike.get(reasons) ?? { first: name, count: 0 };
  alike.set(reasons, { first: [name, first].sort()[0] ?? name, count: count + 1 });
}

function inWords([reasons, { first, count }]: [string, Alike]): string {
  const others = count - 1;
  if (others === 0) return `${first}: ${reasons}`;
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'}): ${reasons}`;
}

/** Of a controller that has one already. */
function isAnother({ metadata }: KubeObject, owners: Set<string>): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
  if (owner === undefined) return false;
  const known = owners.has(owner);
  owners.add(owner);
  return known;
}
