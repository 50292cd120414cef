import { clustersAnnotation } from '../../cluster/names.ts';
import { lacksCluster, roomComesBy } from '../../cluster/no-room.ts';
import { misfitIn } from '../../cluster/node-fit.ts';
import type { Placement } from '../../cluster/types.ts';
import { groupResource } from '../../kube/gvk.ts';
import { claimsAdvice } from './claims.ts';
import { troublesOn } from './pods.ts';
import type { Told } from './told.ts';

/** What whoever asks can do next, the nearest first; commands in full. Empty where there is nothing to do. */
export function adviceFor(told: Told): string[] {
  const { kind, object, placement } = told;
  const { namespace = '', name = '' } = object.metadata;
  const annotate = `kubectl -n ${namespace} annotate ${groupResource(kind)}/${name} --overwrite`;
  if (placement === 'forbidden') return [`ask for the right to read placements.atoll.dev in ${namespace}`];
  if (placement === 'absent') return absent(told);
  const remedies = [...new Set(refusedOf(placement).flatMap(([cluster, why]) => remedyOf(cluster, why)))];
  if (placement.spec && lacksCluster(placement.spec))
    remedies.push('have an administrator add a cluster: atoll cluster add NAME --kubeconfig FILE');
  const back = formerOf(placement).join(',');
  const { noRoom, unplaced, scale: autoscaled } = placement.spec ?? {};
  const lacking = noRoom ?? unplaced;
  const kept = lacking && !autoscaled ? lacking.of - lacking.pods : 0;
  const scale = `kubectl -n ${namespace} scale ${groupResource(kind)}/${name}`;
  return [
    ...(namesNoOther(placement) ? [`name another cluster: ${annotate} ${clustersAnnotation}=NAME`] : []),
    ...(kept > 0 ? [`have as many as there is room for: ${scale} --replicas=${kept}`] : []),
    ...(noRoom ? [`have an administrator make room: ${roomComesBy}`] : []),
    ...remedies.slice(0, mostRemedies),
    ...(remedies.length > 0 ? ['it moves by itself once that has changed: nothing need be repeated'] : []),
    ...misfits(placement).map(
      (cluster) =>
        `have its pods ask for what nodes of ${cluster} have, or name another cluster: ${annotate} ${clustersAnnotation}=NAME`,
    ),
    ...strangersOf(told, placement),
    ...(isIll(told, placement) ? [`see why pods are not ready: kubectl -n ${namespace} describe pods`] : []),
    ...claimsAdvice(told),
    ...(back !== '' ? [`keep it on ${back}: ${annotate} ${clustersAnnotation}=${back}`] : []),
  ];
}

/** Of fifty clusters that all refuse, nobody wants to read fifty times what to do. */
const mostRemedies = 5;

/** What has its name on a cluster, and is nobody's here: its locator may have been taken off, or somebody else made it. */
function strangersOf({ kind }: Told, { spec, status }: Placement): string[] {
  const { physicalNamespace, ref } = spec ?? {};
  if (physicalNamespace === undefined || ref === undefined) return [];
  // Of its Namespace, and of whoever was left behind, the message itself says what to do.
  const words = `${kind.resource} ${physicalNamespace}/${ref.name} exists on the cluster and is not ours`;
  const taken = Object.entries(status?.clusters ?? {}).filter(([, { error }]) => error?.message === words);
  const it = `kubectl -n ${physicalNamespace} delete ${groupResource(kind)} ${ref.name}`;
  return taken.map(
    ([cluster]) => `if what is on ${cluster} may go, have its administrator delete it there: ${it}`,
  );
}

function isIll({ pods }: Told, { spec }: Placement): boolean {
  const joining = Object.entries(spec?.shares ?? {}).filter(([, { phase }]) => phase === 'Joining');
  return joining.some(([cluster]) => troublesOn(cluster, pods).length > 0);
}

function namesNoOther({ spec }: Placement): boolean {
  return Object.values(spec?.reasons ?? {}).some((why) => / names no other: it stays$/.test(why));
}

/** Where it is to be, and no node is one for its pods: see misfitIn. */
function misfits({ spec }: Placement): string[] {
  const { clusters = [], reasons = {} } = spec ?? {};
  return clusters.filter((name) => misfitIn(reasons[name]) !== undefined).sort();
}

function absent({ kind, object }: Told): string[] {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  const of = `-n ${object.metadata.namespace}`;
  // What an owner is called nobody has checked, and a command is copied into a shell.
  if (owner && [owner.kind, owner.name].every((word) => /^[\w.-]+$/.test(word)))
    return [`ask about what made it: atoll explain ${owner.kind}/${owner.name} ${of}`];
  if (kind.role === 'closure') return ['name it in a workload, or annotate it with clusters of its own'];
  return ['ask again in a moment; if nothing changes, an administrator sees whether the scheduler runs'];
}

/** While a move is under way that somebody asked for: what it leaves. Of what drives it away, reasons speak. */
function formerOf({ spec }: Placement): string[] {
  const { clusters = [], shares = {}, reasons = {} } = spec ?? {};
  const old = Object.keys(shares).filter((name) => !clusters.includes(name));
  const isDriven = (name: string) =>
    Object.hasOwn(reasons, name) && !/^its claim \S+ is copied along/.test(reasons[name] ?? '');
  const isKept = (name: string) => shares[name]?.phase !== 'Leaving' && !isDriven(name);
  return clusters.length > 0 && old.every(isKept) ? old.sort() : [];
}

/** What keeps it from where it ought to be: all where it is blocked or nowhere, else of what was asked for by name. */
function refusedOf({ spec }: Placement): [string, string][] {
  const { clusters = [], wanted = [], reasons = {}, blocked } = spec ?? {};
  const isAsked = (name: string) => blocked === true || clusters.length === 0 || wanted.includes(name);
  return Object.entries(reasons).filter(
    ([name]) => isAsked(name) && (blocked === true || !clusters.includes(name)),
  );
}

/** By the words that the scheduler's filters say: scheduler/filter.ts. What is not here says itself what to do. */
const remedyTable: readonly [RegExp, (cluster: string) => string][] = [
  [
    /^it is (cordoned|being drained)/,
    (name) => `an administrator takes ${name} back: atoll uncordon ${name}`,
  ],
  // Nobody takes a deletion back.
  [
    /^it is being removed$/,
    (name) => `an administrator gives up what is on ${name}: atoll cluster remove ${name} --forget`,
  ],
  [/^needs .* left/, (name) => `ask for fewer or smaller pods, or for more room on ${name} (spec.capacity)`],
  [
    /^it has the taint/,
    (name) => `have a policy tolerate the taint of ${name}, or an administrator remove it`,
  ],
  [/^there is no physical cluster/, (name) => `correct the name ${name}: there is no such cluster`],
  [
    /, and no copier is between the two \(spec\.copier\)$/,
    (name) =>
      `have an administrator name one copier on both clusters: kubectl patch physicalcluster ${name} --type merge -p '{"spec":{"copier":"NAME"}}'`,
  ],
  [/^(excluded by|not named by|its labels)/, (name) => `to have it on ${name}, change what keeps it out`],
  [
    /^(it is not ready|it has not reported|cluster .* has not answered)/,
    (name) => `wait for ${name}, or have an administrator see to it`,
  ],
];

function remedyOf(cluster: string, why: string): string[] {
  // Of what overflows it says first how much is there, then why nothing more.
  const parts = why.split('; ');
  const found = remedyTable.find(([words]) => parts.some((part) => words.test(part)));
  return found ? [found[1](cluster)] : [];
}
