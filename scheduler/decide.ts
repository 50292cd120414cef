import { closureOf, indexNamespace, type PlacedObject, refKey, refOf } from '../cluster/closure.ts';
import { groupOf } from '../cluster/group.ts';
import { isForgotten } from '../cluster/life.ts';
import { isBeingOrphaned } from '../cluster/orphans.ts';
import { isPlaceable } from '../cluster/placeable.ts';
import { formatClusters } from '../cluster/placement.ts';
import { podCount } from '../cluster/pod-spec.ts';
import { podsOn } from '../cluster/spread.ts';
import type { ClosureRef } from '../cluster/types.ts';
import { groupResource } from '../kube/gvk.ts';
import { decideClosure } from './along.ts';
import { choose } from './choose.ts';
import { claimsOf, withoutData } from './claims.ts';
import { withoutCredentials } from './credentials.ts';
import { isDrained } from './filter.ts';
import type { Choice, Situation } from './judge.ts';
import { policiesFor } from './policies.ts';
import { homeOf, recordOf } from './record.ts';
import { isRolledOut } from './rollout.ts';
import { currentOf, hasStopped, isLive, placementOf, type Scene } from './scene.ts';
import { evictingOf, listenedSince } from './tolerations.ts';
import { leavingSince, Turns, togetherWords, turnMs, waitingWords } from './turns.ts';
import type { Decided, NamespaceDecision, NamespaceInput } from './types.ts';
import { addUsage, podsOf, requestsOf, type Usage, usageOf } from './usage.ts';
import { saysWhere, schedulersNote, tolerationsOf, type Wish, wishOf } from './wishes.ts';

/** Everything of one namespace at once, since workloads stay together and what they use follows them. */
export function decideNamespace(given: NamespaceInput): NamespaceDecision {
  const input = { ...given, objects: withoutCredentials(given) };
  const index = indexNamespace(input.objects);
  const records = new Map(
    input.placements.flatMap((p) => (p.spec ? [[refKey(p.spec.ref), p] as const] : [])),
  );
  const scene = {
    input,
    index,
    records,
    // One that is forgotten is as if it were gone: neither data nor want of another place holds anything there.
    clusters: new Map(input.clusters.flatMap((c) => (isForgotten(c) ? [] : [[c.metadata.name ?? '', c]]))),
    listened: listenedSince(input.clusters, input.startedAt ?? 0, input.now),
  };
  const { decided, usage, turns } = decideWorkloads(scene);
  const along = decideClosure(scene, decided);
  const all = [...decided, ...along];
  const finish = input.objects.filter((placed) => hasStopped(scene, placed)).map(({ object }) => object);
  const leaving = input.namespace?.metadata.deletionTimestamp !== undefined;
  return {
    annotate: leaving ? [] : decided.flatMap(annotationOf),
    ...recordOf({
      decided: all,
      placements: input.placements,
      mayCreate: !leaving,
      home: homeOf(input.namespace),
      untouched: new Set([
        ...input.objects.flatMap(({ object }) =>
          isBeingOrphaned(object) ? [object.metadata.uid ?? ''] : [],
        ),
        ...(input.unknown ?? []),
      ]),
    }),
    finish,
    usage,
    leaving: turns.leaving,
    // Only where no turn is free: else two that wait for another cluster would ask each other for ever.
    waiting: [...new Set(decided.flatMap(({ choice }) => choice.waits ?? []))].filter((c) =>
      turns.mustWait(c),
    ),
    blocked: all.some(({ choice }) => choice.blocked),
    lookAgain: decided.some(({ choice }) => choice.lookAgain),
    open: decided.some(({ choice }) => choice.open),
    toleratedUntil: Math.min(Number.POSITIVE_INFINITY, ...decided.map((one) => endOfStay(scene, one))),
    turnUntil: Math.min(Number.POSITIVE_INFINITY, ...decided.map((one) => endOfMove(scene, one))),
  };
}

function decideWorkloads(scene: Scene): { decided: Decided[]; usage: Usage; turns: Turns } {
  const workloads = scene.input.objects
    .filter((o) => o.kind.role === 'workload' && isLive(scene, o))
    .sort(byRef);
  const used: Usage = new Map(scene.input.usage);
  const own: Usage = new Map();
  const rest = new Map<string, number>();
  const count = (cluster: string, by: number) => rest.set(cluster, (rest.get(cluster) ?? 0) + by);
  const takes = new Map<PlacedObject, Usage>();
  const turns = new Turns(scene.clusters, scene.input.leaving);
  const groupAt = ({ object }: PlacedObject) => groupOf(object, scene.input.namespace);
  for (const placed of workloads) {
    const placement = placementOf(scene, placed);
    for (const c of currentOf(placement, placed.object)) count(c, 1);
    if (!placement) continue;
    turns.resume(placement, groupAt(placed), scene.input.now);
    takes.set(placed, usageOf(placed.object, placement));
    addUsage(used, takes.get(placed) ?? new Map());
  }
  const decided = workloads.map((placed): Decided => {
    const placement = placementOf(scene, placed);
    const current = currentOf(placement, placed.object);
    const wish = wishFor(scene, placed);
    const requires = requiredBy(scene, placed);
    const claims = claimsOf(scene, placed.object, requires);
    const had = placement ? podsOf(placed.object, placement) : new Map<string, number>();
    const situation = { ...situationOf(scene, placed, { current, claims: claims.hold, used }), had };
    for (const c of current) count(c, -1);
    const there = Object.keys(placement?.spec?.shares ?? {});
    const chosen = chooseInTurn((waits) => choose(wish, { ...situation, waits }, rest), {
      scene,
      turns,
      leaves: current.filter((c) => there.includes(c)),
      group: groupAt(placed),
    });
    const choice = withoutData(chosen, there, claims.recreate);
    for (const c of choice.clusters) count(c, 1);
    const before = takes.get(placed) ?? new Map();
    const added = choice.clusters.filter((c) => !before.has(c));
    const pods = podsOn(situation.pods, choice.clusters, choice.spread);
    const more = new Map(added.map((c) => [c, situation.need(pods.get(c) ?? 0)]));
    // Where it overflows it grows by what it is given: the next one counts with that.
    if (choice.lookAgain)
      for (const [c, n] of had)
        if ((pods.get(c) ?? 0) > n) more.set(c, situation.need((pods.get(c) ?? 0) - n));
    addUsage(used, more);
    addUsage(own, before);
    addUsage(own, more);
    const since = leavingSince(placement, choice.clusters, scene.input.now);
    return {
      placed,
      choice,
      wish,
      requires,
      ...(since && { leavingSince: since }),
    };
  });
  return { decided, usage: own, turns };
}

/**
 * What a drain would have leave stays where that is not its turn; whatever else drives it away, or away from there, counts
 * all the same. Of several clusters it leaves all or none: it would come in full to one that is drained itself.
 */
function chooseInTurn(
  chosen: (waits: ReadonlySet<string>) => Choice,
  from: { scene: Scene; turns: Turns; leaves: readonly string[]; group: string | undefined },
): Choice {
  const { scene, turns, leaves, group } = from;
  const first = chosen(new Set());
  const left = leaves.filter((c) => !first.clusters.includes(c));
  const drained = left.filter((c) => isDrained(scene.clusters.get(c)));
  const late = drained.filter((c) => turns.mustWait(c, group));
  const kept = late.length > 0 ? chosen(new Set(drained)) : first;
  // Who leaves where it would have to wait all the same has nothing to wait for.
  const choice = late.some((c) => kept.clusters.includes(c)) ? kept : first;
  for (const c of leaves) if (!choice.clusters.includes(c)) turns.take(c, group);
  const waits = drained.filter((c) => choice.clusters.includes(c));
  if (waits.length === 0) return choice;
  const most = (c: string) => scene.clusters.get(c)?.spec?.drainConcurrent;
  const words = waits.map(
    (c) => [c, late.includes(c) ? waitingWords(most(c)) : togetherWords(late)] as const,
  );
  return { ...choice, waits, reasons: { ...choice.reasons, ...Object.fromEntries(words) } };
}

/** What has ended counts no longer already. */
function endOfMove({ input: { now } }: Scene, { leavingSince: since = {} }: Decided): number {
  const ends = Object.values(since).map((time) => (Date.parse(time) || 0) + turnMs);
  return Math.min(Number.POSITIVE_INFINITY, ...ends.filter((end) => end > now));
}

/** What has ended is decided already. */
function endOfStay({ clusters, listened, input: { now } }: Scene, { choice, wish }: Decided): number {
  const tolerations = tolerationsOf(wish);
  const ends = choice.clusters.flatMap((name) => {
    const cluster = clusters.get(name);
    const until = cluster && evictingOf(cluster, tolerations, listened)?.until;
    return until !== undefined && until > now ? [until] : [];
  });
  return Math.min(Number.POSITIVE_INFINITY, ...ends);
}

function wishFor({ input: { namespace, policies = [] } }: Scene, placed: PlacedObject): Wish | undefined {
  return wishOf(placed.object, namespace, policiesFor(placed, namespace, policies));
}

/** What goes along with its pods: those of its template, and while others are left what these have. */
function requiredBy(scene: Scene, placed: PlacedObject): ClosureRef[] {
  const { byKey } = scene.index;
  const now = closureOf(placed.object, scene.index);
  if (isRolledOut(placed.object)) return now;
  const keys = new Set(now.map(refKey));
  const former = (placementOf(scene, placed)?.spec?.requires ?? []).filter((ref) => {
    const there = byKey.get(refKey(ref));
    return !keys.has(refKey(ref)) && there !== undefined && isPlaceable(there.kind, there.object);
  });
  return [...now, ...former].sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

function situationOf(
  scene: Scene,
  { object, kind }: PlacedObject,
  from: Pick<Situation, 'current' | 'claims' | 'used'>,
): Situation {
  return {
    clusters: scene.clusters,
    notTaken: new Map(scene.input.notTaken),
    ...from,
    pods: podCount(object),
    now: scene.input.now,
    listened: scene.listened,
    divided: kind.spread,
    kind: kind.rule && `${groupResource(kind)}/${kind.version}`,
    need: (pods) => requestsOf(object, pods),
  };
}

/** On a workload that no annotation places the scheduler says where; elsewhere it takes its word back. */
function annotationOf({ placed, choice, wish }: Decided): NamespaceDecision['annotate'] {
  const note = schedulersNote(placed.object);
  const isAnnotated = wish?.layers.some(({ isPolicy, names }) => !isPolicy && names) === true;
  if (isAnnotated) return note === undefined ? [] : [{ placed, clusters: undefined }];
  if (saysWhere(placed.object)) return [];
  const clusters = formatClusters(choice.clusters);
  return clusters === '' || clusters === note ? [] : [{ placed, clusters }];
}

function byRef(a: PlacedObject, b: PlacedObject): number {
  return refKey(refOf(a)) < refKey(refOf(b)) ? -1 : 1;
}
