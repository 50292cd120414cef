import type { KubeObject } from '../kube/object.ts';
import {
  drainAnnotation,
  overflowAnnotation,
  pausedAnnotation,
  spreadAnnotation,
  volumesAnnotation,
  waitAnnotation,
} from './names.ts';
import { parseSpread } from './spread.ts';
import { volumesFault } from './volumes.ts';

/** By annotation, the most seconds that can be asked for. */
const mostSeconds: Readonly<Record<string, number>> = { [drainAnnotation]: 3600, [waitAnnotation]: 86_400 };
export const mannerAnnotations = [
  drainAnnotation,
  waitAnnotation,
  pausedAnnotation,
  spreadAnnotation,
  overflowAnnotation,
  volumesAnnotation,
] as const;

/** What is wrong with the value of one of mannerAnnotations; undefined: nothing. */
export function faultOf(annotation: string, value: string): string | undefined {
  if (annotation === spreadAnnotation) {
    const read = parseSpread(value);
    return typeof read === 'string' ? read : undefined;
  }
  if (annotation === volumesAnnotation) return volumesFault(value);
  if (annotation === pausedAnnotation || annotation === overflowAnnotation)
    return value === 'true' || value === 'false' ? undefined : 'must be "true" or "false"';
  const isInOrder = secondsIn(annotation, value) !== undefined;
  return isInOrder ? undefined : `must be a whole number of seconds from 0 to ${mostSeconds[annotation]}`;
}

/** As the annotation says; undefined without one that is in order. */
export function drainSeconds({ metadata: { annotations } }: KubeObject): number | undefined {
  return secondsIn(drainAnnotation, annotations?.[drainAnnotation]);
}

/** As the annotation says; undefined without one that is in order. */
export function waitSeconds({ metadata: { annotations } }: KubeObject): number | undefined {
  return secondsIn(waitAnnotation, annotations?.[waitAnnotation]);
}

export function isPaused({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.[pausedAnnotation] === 'true';
}

/** Undefined where it is absent, or neither true nor false. */
export function overflowIn(annotations: Readonly<Record<string, string>> | undefined): boolean | undefined {
  const value = annotations?.[overflowAnnotation];
  return value === 'true' || value === 'false' ? value === 'true' : undefined;
}

function secondsIn(annotation: string, value: string | undefined): number | undefined {
  const seconds = value !== undefined && /^\d{1,5}$/.test(value) ? Number(value) : undefined;
  return seconds !== undefined && seconds <= (mostSeconds[annotation] ?? 0) ? seconds : undefined;
}
