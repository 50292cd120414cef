import { isPlacementMark, isSystemMark, keepMarks } from '../../cluster/marks.ts';
import {
  clustersAnnotation,
  controllersUser,
  placedByAnnotation,
  refusedRevisionAnnotation,
  scalesHereAnnotation,
  schedulerUser,
} from '../../cluster/names.ts';
import { parseWord } from '../../cluster/placement.ts';
import { inTurn, type Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isOwn } from '../authn/controllers.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { warnOfExternalName } from './name-warn.ts';
import { requirePlace } from './placement-authorize.ts';
import { refuseCopying, refuseManner } from './placement-manner.ts';
import { refusePlacement } from './placement-refuse.ts';
import { warnOfPlacement, warnOfSpread, warnOfUnruled } from './placement-warn.ts';
import { namesClusters } from './placement-wish.ts';

/**
 * Guards the one attribute, atoll.dev/clusters, on Namespaces and namespaced objects, and our own marks on all objects:
 * - whoever writes it is recorded in atoll.dev/placed-by, which nobody can set themselves; who writes what the scheduler
 *   chose makes it their own;
 * - whoever names clusters needs the verb `place` on each; to exclude some needs none, since it only narrows a choice;
 * - names of clusters that do not exist are refused, before anything is stored, and so is any in a system namespace;
 * - the scheduler's value survives a replace that does not mention it; a user's goes when the user removes it;
 * - in an object that is made of another's export the scheduler's word is nobody's wish;
 * - a write of a subresource changes none of it, and no write through the API any of our marks, but the one of what our
 *   controllers make.
 */
export const placementAdmission: AdmissionPlugin = {
  name: 'Placement',
  mutate(request) {
    const { object, old } = request;
    if (!object || !writesObject(request)) return;
    if (!old && saysWhere(request) && isCopied(request, object)) leaveOut(request, object);
    const { annotations } = object.metadata;
    const isWish = saysWhere(request) && makesItTheirs(request, object);
    const kept = keepMarks(annotations, old?.metadata.annotations, keptBy(request));
    if (kept !== annotations) setAnnotations(object, kept ?? {});
    if (saysWhere(request)) attribute(request, object, isWish);
  },
  validate(request) {
    const { object } = request;
    if (!object || !writesObject(request) || request.subresource !== '') return undefined;
    warnOfPlacement(request, object);
    if (!saysWhere(request)) return undefined;
    refuseManner(request, object);
    return inTurn([refuseCopying, refuseWhere, warnOfSpread, warnOfExternalName], (step) =>
      step(request, object),
    );
  },
};

function refuseWhere(request: AdmissionRequest, object: KubeObject): Later<void> {
  const { old } = request;
  const after = wantedBy(object);
  const isNew = after !== wantedBy(old) || authorOf(object) !== authorOf(old);
  if (after === undefined || !isNew) return undefined;
  const names = { names: parseWord(after).names, by: `annotation ${clustersAnnotation}` };
  return requirePlace(request, object, names)
    .then(() => refusePlacement(request, object, after))
    .then(() => warnOfUnruled(request));
}

/** A write of a kind that its subresource shows in a kind of its own (Scale, Binding) brings no annotations. */
function writesObject({ operation, kind }: AdmissionRequest): boolean {
  return (operation === 'CREATE' || operation === 'UPDATE') && kind === undefined;
}

/** Of our controllers, on what users write, too. */
const controllersMarks = new Set([refusedRevisionAnnotation, scalesHereAnnotation]);

function keptBy({ subresource, user }: AdmissionRequest): (annotation: string) => boolean {
  if (subresource !== '') return isPlacementMark;
  const isTheirs = isOwn(user, controllersUser);
  return isTheirs ? (key) => isSystemMark(key) && !controllersMarks.has(key) : isSystemMark;
}

function saysWhere({ subresource, stored: { info } }: AdmissionRequest): boolean {
  return subresource === '' && (info.namespaced || (info.group === '' && info.resource === 'namespaces'));
}

/** It says what the scheduler chose for another object. */
export function isCopied({ user }: AdmissionRequest, object: KubeObject): boolean {
  return object.metadata.annotations?.[placedByAnnotation] === schedulerUser && !isOwn(user, schedulerUser);
}

/** The scheduler's choice, which the one who writes names as well. */
function makesItTheirs(request: AdmissionRequest, object: KubeObject): boolean {
  const { old, user } = request;
  if (authorOf(old) !== schedulerUser || isOwn(user, schedulerUser)) return false;
  if (wantedBy(object) === undefined || wantedBy(object) !== wantedBy(old)) return false;
  const { patch } = request;
  return patch === undefined ? authorOf(object) === undefined : namesClusters(patch);
}

function leaveOut(request: AdmissionRequest, object: KubeObject): void {
  if (wantedBy(object) === undefined) return;
  annotate(object, clustersAnnotation, undefined);
  request.warn(
    `metadata.annotations[${clustersAnnotation}]: left out, as ${placedByAnnotation} says that it was the scheduler's ` +
      'choice for another object; without that it is yours',
  );
}

function attribute({ old, user }: AdmissionRequest, object: KubeObject, isWish: boolean): void {
  const author = authorOf(old);
  const before = wantedBy(old);
  const isSchedulers = author === schedulerUser && !isOwn(user, schedulerUser);
  if (wantedBy(object) === undefined && isSchedulers) annotate(object, clustersAnnotation, before);
  const after = wantedBy(object);
  const now = after === before && !isWish && !isOwn(user, schedulerUser) ? author : user.name;
  annotate(object, placedByAnnotation, after === undefined ? undefined : now);
}

function authorOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata.annotations?.[placedByAnnotation];
}

function wantedBy(object: KubeObject | undefined): string | undefined {
  return object?.metadata.annotations?.[clustersAnnotation];
}

function annotate(object: KubeObject, key: string, value: string | undefined): void {
  const there = object.metadata.annotations;
  if (there === undefined && value === undefined) return;
  const { [key]: _old, ...rest } = there ?? {};
  setAnnotations(object, value === undefined ? rest : { ...rest, [key]: value });
}

function setAnnotations(object: KubeObject, annotations: Readonly<Record<string, string>>): void {
  if (Object.keys(annotations).length > 0) object.metadata.annotations = { ...annotations };
  else delete object.metadata.annotations;
}
