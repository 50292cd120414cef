import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { at, getOwn, text } from '../untyped.ts';
import {
  type Check,
  containersNamed,
  containersOf,
  containersThat,
  nameOf,
  type PodLike,
  plural,
  quoted,
  securityAt,
  setters,
  sortedSet,
  type Violation,
} from './pod.ts';

const podAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
const containerAnnotation = 'container.seccomp.security.alpha.kubernetes.io/';

/** Before 1.19. */
export const seccompAnnotations: Check = (pod) => {
  const keys = [podAnnotation, ...containersOf(pod).map((one) => `${containerAnnotation}${nameOf(one)}`)];
  const isGood = (value: string) =>
    ['runtime/default', 'docker/default'].includes(value) || value.startsWith('localhost/');
  const bad = sortedSet(
    keys.flatMap((key) => {
      const value = getOwn(pod.annotations, key);
      return value === undefined || isGood(value) ? [] : [`${key}=${quoteGo(value)}`];
    }),
  );
  if (bad.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', 'annotations', bad)} ${bad.join(', ')}`,
  };
};

const profileOf = (of: JsonObject) => securityAt(of, 'seccompProfile') ?? undefined;
const typeOf = (of: JsonObject) => text(at(profileOf(of), 'type'));
const isGood = (of: JsonObject) => ['RuntimeDefault', 'Localhost'].includes(typeOf(of));
const isBad = (of: JsonObject) => profileOf(of) !== undefined && !isGood(of);

export const seccompBaseline: Check = (pod) => {
  const who = setters(isBad(pod.spec), containersThat(pod, isBad));
  if (who === '') return undefined;
  const types = sortedSet([pod.spec, ...containersOf(pod)].filter(isBad).map(typeOf));
  return violation(`${who} must not set securityContext.seccompProfile.type to ${quoted(types)}`);
};

/** One must be set, too. */
export const seccompRestricted: Check = (pod: PodLike) => {
  const set = seccompBaseline(pod);
  if (set || isGood(pod.spec)) return set;
  const silent = containersThat(pod, (one) => profileOf(one) === undefined);
  if (silent.length === 0) return undefined;
  return violation(
    `pod or ${containersNamed(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  );
};

function violation(detail: string): Violation {
  return { reason: 'seccompProfile', detail };
}
