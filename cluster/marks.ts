import {
  claimOfAnnotation,
  claimsAnnotation,
  clustersAnnotation,
  givenOwnersAnnotation,
  locatorAnnotation,
  logicalClusterAnnotation,
  orphanOfAnnotation,
  placedByAnnotation,
  podAdmissionAnnotation,
  reflectedFromAnnotation,
  refusedRevisionAnnotation,
  releasedByAnnotation,
  scaledAnnotation,
  scalesHereAnnotation,
  setLocatorAnnotation,
  withdrawnLabel,
} from './names.ts';

const marks = new Set([
  placedByAnnotation,
  locatorAnnotation,
  setLocatorAnnotation,
  scaledAnnotation,
  orphanOfAnnotation,
  releasedByAnnotation,
  givenOwnersAnnotation,
  claimOfAnnotation,
  claimsAnnotation,
  withdrawnLabel,
  podAdmissionAnnotation,
  refusedRevisionAnnotation,
  scalesHereAnnotation,
]);
const seen = new Set([reflectedFromAnnotation, logicalClusterAnnotation]);

/**
 * Annotations that Atoll alone writes. Users' tools copy metadata from one object to another, so they are no error in
 * what a user sends: they mean nothing there, and stay as they were.
 */
export function isSystemMark(annotation: string): boolean {
  return marks.has(annotation) || isSeenMark(annotation);
}

/** Of these, what objects of logical clusters show and no physical cluster's: a reflection's source, say. */
export function isSeenMark(annotation: string): boolean {
  return seen.has(annotation) || annotation.startsWith('internal.atoll.dev/');
}

/** What only a write of the object itself may change: a subresource says nothing of where it runs. */
export function isPlacementMark(annotation: string): boolean {
  return annotation === clustersAnnotation || isSystemMark(annotation);
}

export type Annotations = Readonly<Record<string, string>>;

/** `annotations`, with those that `isKept` as they were before. Answers the very same where nothing is to do. */
export function keepMarks(
  annotations: Annotations | undefined,
  before: Annotations | undefined,
  isKept: (annotation: string) => boolean = isSystemMark,
): Annotations | undefined {
  const [now, was] = [annotations ?? {}, before ?? {}];
  const kept = [...new Set([...Object.keys(now), ...Object.keys(was)])].filter(isKept);
  if (kept.every((key) => own(now, key) === own(was, key))) return annotations;
  const users = Object.entries(now).filter(([key]) => !isKept(key));
  return Object.fromEntries([...users, ...Object.entries(was).filter(([key]) => isKept(key))]);
}

function own(annotations: Annotations, key: string): string | undefined {
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

export function withoutMarks(annotations: Annotations | undefined): Annotations | undefined {
  return keepMarks(annotations, undefined);
}

/** Of a name of ours, whatever it says. */
export function isOurs(key: string): boolean {
  return /^([-a-z0-9]+\.)*(atoll\.dev|kcp\.io)\//.test(key);
}
