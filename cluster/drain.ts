import type { KubeObject } from '../kube/object.ts';
import { drainAnnotation, pausedAnnotation } from './names.ts';

/** The longest drain that can be asked for. */
export const mostDrainSeconds = 3600;

/** What is wrong with the value of one of the two annotations; undefined: nothing. */
export function faultOf(annotation: string, value: string): string | undefined {
  if (annotation === pausedAnnotation && value !== 'true' && value !== 'false')
    return 'must be "true" or "false"';
  if (annotation === drainAnnotation && secondsIn(value) === undefined)
    return `must be a whole number of seconds from 0 to ${mostDrainSeconds}`;
  return undefined;
}

/** As the annotation says; undefined without one that is in order. */
export function drainSeconds({ metadata: { annotations } }: KubeObject): number | undefined {
  return secondsIn(annotations?.[drainAnnotation]);
}

export function isPaused({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.[pausedAnnotation] === 'true';
}

function secondsIn(value: string | undefined): number | undefined {
  const seconds = value !== undefined && /^\d{1,4}$/.test(value) ? Number(value) : undefined;
  return seconds !== undefined && seconds <= mostDrainSeconds ? seconds : undefined;
}
