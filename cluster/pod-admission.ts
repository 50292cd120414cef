import { sameJson } from '../kube/deep.ts';
import { encodeJson } from '../kube/json.ts';
import type { Json, KubeObject } from '../kube/object.ts';
import { applyJsonPatch } from '../kube/patch/json.ts';
import { StatusError } from '../kube/status.ts';
import { at, getOwn, isRecord, numberAt, strings, textAt } from '../kube/untyped.ts';
import { podAdmissionAnnotation } from './names.ts';
import { stepsOf } from './placed-resource.ts';
import { originOf, setAt } from './ruled.ts';

/**
 * What those said who were asked about the pods of a workload's template. `patch` (RFC 6902) makes of the template as it is
 * written the one that pods are made of: the admitted one, or, while the written one is refused, the one before it. Neither:
 * its pods are made as it is written.
 */
export interface PodAdmission {
  patch?: Json[];
  /** Why no pod is made of the template as it is written. Without a patch there was none before: none is made at all. */
  refused?: string;
  /** How often it was refused in other words before. */
  times?: number;
  /**
   * Of what runs while the written one is refused: a patch of the latter, to the one that was written then. Absent where that is what
   * `patch` leads to, or was too long to be kept.
   */
  former?: Json[];
  /** Where in a custom resource the template is: a rule may come to say something else, and what runs is to stay as it is. */
  path?: string[];
}

/** In bytes: what all annotations of an object may have together is twice as much. */
const mostBytes = 128 << 10;

/** Undefined: nobody was asked, or nobody had anything to say. Nobody but the server writes it. */
export function podAdmissionOf({ metadata }: KubeObject): PodAdmission | undefined {
  const text = getOwn(metadata.annotations ?? {}, podAdmissionAnnotation);
  if (text === undefined) return undefined;
  const said: unknown = JSON.parse(text);
  const [patch, refused, former] = [at(said, 'patch'), textAt(said, 'refused'), at(said, 'former')];
  const times = numberAt(said, 'times');
  const path = at(said, 'path');
  return {
    ...(Array.isArray(patch) && { patch: patch as Json[] }),
    ...(refused !== undefined && { refused }),
    ...(times !== undefined && { times }),
    ...(Array.isArray(former) && { former: former as Json[] }),
    ...(Array.isArray(path) && { path: strings(path) }),
  };
}

/** As the annotation has it; undefined: there is nothing to say. Fails where it is too long to be kept. */
export function textOfAdmission({ patch, refused, times, former, path }: PodAdmission): string | undefined {
  const isNothing = refused === undefined && (patch?.length ?? 0) === 0;
  if (isNothing) return undefined;
  const said = {
    ...(refused !== undefined && { refused }),
    ...(times !== undefined && { times }),
    ...(patch && { patch }),
    ...(path && { path }),
  };
  const texts = [...(former ? [encodeJson({ ...said, former })] : []), encodeJson(said)];
  const text = texts.find((one) => Buffer.byteLength(one) <= mostBytes);
  if (text === undefined) throw new RangeError(`it is longer than ${mostBytes} bytes`);
  return text;
}

/** Why pods of the template as it is written are not made; undefined: they are. */
export function podRefusal(workload: KubeObject): string | undefined {
  return podAdmissionOf(workload)?.refused;
}

/** No pod is made of it, and none was: it is on no physical cluster. */
export function isHeldBack(workload: KubeObject): boolean {
  const said = podAdmissionOf(workload);
  return said?.refused !== undefined && said.patch === undefined;
}

interface Known {
  text: string;
  said: PodAdmission | undefined;
  template: unknown;
  admitted: KubeObject;
}

const known = new WeakMap<KubeObject, Known>();

/** The workload with the template that its pods are made of, which is at `path`: the very same where that is as it is written. */
export function admittedAt(workload: KubeObject, path: readonly string[]): KubeObject {
  const text = getOwn(workload.metadata.annotations ?? {}, podAdmissionAnnotation);
  if (text === undefined || path.length === 0) return workload;
  const before = known.get(workload);
  const said = before?.text === text ? before.said : podAdmissionOf(workload);
  const where = whereOf(workload, said, path);
  const template = where && at(workload, ...where);
  if (before?.text === text && before.template === template) return before.admitted;
  const patch = said?.patch;
  const admitted =
    where && patch && isRecord(template) ? patched(workload, where, template, patch) : workload;
  known.set(workload, { text, said, template, admitted });
  return admitted;
}

/**
 * Where in it the template is that was asked about. Undefined: nowhere, where somebody who decides sees another, to which its rule has
 * led since.
 */
function whereOf(
  workload: KubeObject,
  said: PodAdmission | undefined,
  path: readonly string[],
): readonly string[] | undefined {
  const rule = originOf(workload)?.rule;
  if (said?.path === undefined) return path;
  if (!rule) return said.path;
  return sameJson(said.path, stepsOf(rule.templatePath ?? '.spec.template')) ? path : undefined;
}

/** The template of what runs, as it was written; undefined: none is made of any. */
export function writtenOfPods(workload: KubeObject, path: readonly string[]): unknown {
  const said = podAdmissionOf(workload);
  if (isHeldBack(workload)) return undefined;
  if (said?.refused === undefined) return at(workload, ...path);
  const where = whereOf(workload, said, path);
  const template = where && at(workload, ...where);
  const isKept = where && said.former && isRecord(template);
  const written = isKept ? patched(workload, where, template, said.former ?? []) : admittedAt(workload, path);
  return at(written, ...path);
}

function patched(workload: KubeObject, path: readonly string[], template: Json, patch: Json[]): KubeObject {
  try {
    // It was tried when it was noted: nothing about its size is a reason now to make of pods what was refused.
    const made = applyJsonPatch(template, patch, Number.POSITIVE_INFINITY);
    return setAt(workload, path, made) as unknown as KubeObject;
  } catch (error) {
    if (error instanceof StatusError) return workload;
    throw error;
  }
}

/**
 * After a write: what is made of it is another once its pods are admitted, or no more. Statuses are about one generation. In which words
 * they are refused makes no difference.
 */
export function withPodsGeneration(next: KubeObject, old: KubeObject): KubeObject {
  const { generation } = next.metadata;
  if (generation === undefined || generation !== old.metadata.generation || isMadeAlike(next, old))
    return next;
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } };
}

function isMadeAlike(one: KubeObject, other: KubeObject): boolean {
  const said = ({ metadata }: KubeObject) => getOwn(metadata.annotations ?? {}, podAdmissionAnnotation);
  if (said(one) === said(other)) return true;
  const [now, before] = [podAdmissionOf(one), podAdmissionOf(other)];
  const isRefusedAlike = (now?.refused === undefined) === (before?.refused === undefined);
  return isRefusedAlike && sameJson(now?.patch, before?.patch);
}
