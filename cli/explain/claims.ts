import { hasTemplates, isClaimName } from '../../cluster/claims.ts';
import { clustersAnnotation, volumesAnnotation } from '../../cluster/names.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import type { Placement } from '../../cluster/types.ts';
import { volumesOf } from '../../cluster/volumes.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { leavesOut, wishOf } from '../../scheduler/wishes.ts';
import type { GivenUp, Told } from './told.ts';

/** What this left on clusters, or will, and what becomes of it. */
export function leftBehind(told: Told): string[] {
  const given = told.givenUp.map((left) => {
    const { claim, cluster, by } = left;
    const whose = told.kind.kind === claim.kind ? 'its data' : `the data of its claim ${claim.metadata.name}`;
    const who = [...new Set(by.map(({ name }) => name))].join(', ');
    if (by.length === 0)
      return `${cluster}: what a copier has brought of ${whose} is there, and nothing ran with it; it is deleted`;
    return comesAlong(left, told)
      ? `${cluster}: ${whose} is there, and comes along with ${who}; it is deleted once it was copied to where that is ready`
      : `${cluster}: ${whose} is there, given up by ${who}; it is deleted once all that uses the claim is ready elsewhere`;
  });
  const made = [...madeElsewhere(told)].map(
    ([cluster, names]) =>
      `${cluster}: ${names.join(', ')} stay there with their data, whatever becomes of the set`,
  );
  const shown = madeElsewhere(told);
  for (const [cluster, to] of copiedFrom(told))
    if (!shown.has(cluster))
      made.push(
        `${cluster}: its claims stay there with the data of when they were copied to ${to}; while it has others of the same names they are not shown`,
      );
  if (isWithout(told))
    made.push(
      'if it was on another cluster before, its claims are there with their data; while it has others of the same names they are not shown',
    );
  if (told.unread > 0) {
    const { namespace = '' } = told.object.metadata;
    const what =
      told.unread === 1 ? '1 more claim that it uses was' : `${told.unread} more claims that it uses were`;
    made.push(
      `${what} not looked at: atoll explain pvc/NAME -n ${namespace} tells of one, kubectl -n ${namespace} get pvc names them all`,
    );
  }
  return [...given, ...made];
}

/** Commands in full: how the data is had again, and how it goes. */
export function claimsAdvice(told: Told): string[] {
  const { kind, object, placement, givenUp } = told;
  const { namespace = '', name = '' } = object.metadata;
  const given = givenUp.flatMap((left) => {
    const { claim, cluster, by } = left;
    if (by.length === 0) return [];
    const called = claim.metadata.name ?? '';
    const hold = `${annotate(namespace, `persistentvolumeclaims/${called}`)} ${volumesAnnotation}=hold`;
    // Who goes back under `copy` brings what is elsewhere over it.
    const first = (giver: KubeObject | undefined) =>
      volumesOf(claim, giver, told.namespace) === 'copy' ? `${hold} && ` : '';
    const back = by.filter(
      ({ object: giver }) => giver && leavesOut(wishOf(giver, told.namespace, []), cluster),
    );
    return [
      ...back.map(
        (giver) =>
          `have the data of ${called} on ${cluster} again: ${first(giver.object)}${annotate(namespace, giver.name)} ${clustersAnnotation}=${cluster}`,
      ),
      ...(back.every((giver) => first(giver.object) === '')
        ? [`keep the data of ${called} on ${cluster}: ${hold}`]
        : []),
      ...(isNobodys(left, told)
        ? [
            `let the data of ${called} on ${cluster} go, which nobody copies from there: ${annotate(namespace, `persistentvolumeclaims/${called}`)} ${volumesAnnotation}=recreate`,
          ]
        : []),
    ];
  });
  if (givenUp.some((left) => left.by.length > 0 && !comesAlong(left, told)))
    given.push('let that data go: nothing is to be done for it');
  const there = typeof placement === 'string' ? undefined : placement.spec?.physicalNamespace;
  const made = [...madeElsewhere(told)].flatMap(([cluster, all]) => {
    // What others have there is not this one's to let go.
    const names = all.filter((claim) => told.inUse.get(cluster)?.has(claim) !== true);
    const first = saysCopy(told) ? `${volumesAnnotation}=hold ` : '';
    return [
      `have the data on ${cluster} again: ${annotate(namespace, `${groupResource(kind)}/${name}`)} ${first}${clustersAnnotation}=${cluster}`,
      ...(there && names.length > 0
        ? [`let it go, with the kubeconfig of ${cluster}: kubectl -n ${there} delete pvc ${names.join(' ')}`]
        : []),
    ];
  });
  const see =
    there && (isWithout(told) || copiedFrom(told).size > 0)
      ? [`see what it left on a cluster, with the kubeconfig of that: kubectl -n ${there} get pvc`]
      : [];
  return [...given, ...made, ...see];
}

function annotate(namespace: string, object: string): string {
  return `kubectl -n ${namespace} annotate ${object} --overwrite`;
}

/** All who had it there say copy: until that is done nobody has given it up. */
function comesAlong({ claim, by }: GivenUp, { namespace }: Told): boolean {
  return by.every(({ object }) => object && volumesOf(claim, object, namespace) === 'copy');
}

/** All who were to bring it along are elsewhere, and no copy of it is asked for: it would stay for ever. */
function isNobodys(left: GivenUp, { kind, placement, copies }: Told): boolean {
  const { claim, cluster, uncopied } = left;
  const { spec }: Partial<Placement> = typeof placement === 'string' ? {} : placement;
  const isThere = Object.hasOwn(spec?.shares ?? {}, cluster);
  const isAsked = copies.some(
    (copy) => copy.spec?.claim === claim.metadata.name && copy.spec?.from === cluster,
  );
  // Who explains the claim itself is not told of copies.
  return uncopied === true && kind.role === 'workload' && !isThere && !isAsked;
}

/** Who goes back under it brings what is elsewhere over what is there. */
function saysCopy({ object, namespace }: Told): boolean {
  return volumesOf(object, namespace) === 'copy';
}

/** A StatefulSet that leaves its claims behind where it goes, and begins anew. */
function isWithout({ object, namespace }: Told): boolean {
  return hasTemplates(object) && volumesOf(object, namespace) === 'recreate';
}

/** By cluster that claims of a set were copied from, as far as copiers still say so: where to. */
function copiedFrom({ object, copies }: Told): Map<string, string> {
  const copied = copies.filter(
    ({ spec, status }) => status?.phase === 'Copied' && isClaimName(object, spec?.claim ?? ''),
  );
  return new Map(copied.map(({ spec }) => [spec?.from ?? '', spec?.to ?? '']));
}

/** By cluster where a set is not to be, and is no longer: those of its own claims there that are shown. */
function madeElsewhere({ object, placement, claims }: Told): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const { spec, status }: Partial<Placement> = typeof placement === 'string' ? {} : placement;
  const { clusters = [], shares = {} } = spec ?? {};
  if (clusters.length === 0) return found;
  // While any of it may run there, its pods use them.
  const there = Object.entries(status?.clusters ?? {}).filter(
    ([, { present, orphans }]) => present || orphans,
  );
  const inUse = new Set([...clusters, ...Object.keys(shares), ...there.map(([cluster]) => cluster)]);
  const names = (claim: KubeObject) => claim.metadata.name ?? '';
  for (const claim of [...claims].sort((a, b) => (names(a) < names(b) ? -1 : 1))) {
    if (claim.metadata.deletionTimestamp || !isClaimName(object, names(claim))) continue;
    // Who may edit the claim may have written it, and a command is copied into a shell.
    for (const cluster of reflectedFrom(claim))
      if (!inUse.has(cluster) && /^[a-z0-9][-a-z0-9.]*$/.test(cluster))
        found.set(cluster, [...(found.get(cluster) ?? []), names(claim)]);
  }
  return found;
}
