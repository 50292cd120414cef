import { sameJson } from '../kube/deep.ts';
import { encodeJson } from '../kube/json.ts';
import type { Json, KubeObject } from '../kube/object.ts';
import { applyJsonPatch } from '../kube/patch/json.ts';
import { StatusError } from '../kube/status.ts';
import { at, getOwn, isRecord, numberAt, textAt } from '../kube/untyped.ts';
import { podAdmissionAnnotation } from './names.ts';
import { setAt } from './ruled.ts';

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
  return {
    ...(Array.isArray(patch) && { patch: patch as Json[] }),
    ...(refused !== undefined && { refused }),
    ...(times !== undefined && { times }),
    ...(Array.isArray(former) && { former: former as Json[] }),
  };
}

/** As the annotation has it; undefined: there is nothing to say. Fails where it is too long to be kept. */
export function textOfAdmission({ patch, refused, times, former }: PodAdmission): string | undefined {
  const isNothing = refused === undefined && (patch?.length ?? 0) === 0;
  if (isNothing) return undefined;
  const said = {
    ...(refused !== undefined && { refused }),
    ...(times !== undefined && { times }),
    ...(patch && { patch }),
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
  template: unknown;
  admitted: KubeObject;
}

const known = new WeakMap<KubeObject, Known>();

/** The workload with the template that its pods are made of, which is at `path`: the very same where that is as it is written. */
export function admittedAt(workload: KubeObject, path: readonly string[]): KubeObject {
  const text = getOwn(workload.metadata.annotations ?? {}, podAdmissionAnnotation);
  if (text === undefined || path.length === 0) return workload;
  const template = at(workload, ...path);
  const before = known.get(workload);
  if (before?.text === text && before.template === template) return before.admitted;
  const patch = podAdmissionOf(workload)?.patch;
  const admitted = patch && isRecord(template) ? patched(workload, path, template, patch) : workload;
  known.set(workload, { text, template, admitted });
  return admitted;
}

/** The template of what runs, as it was written; undefined: none is made of any. */
export function writtenOfPods(workload: KubeObject, path: readonly string[]): unknown {
  const { refused, former } = podAdmissionOf(workload) ?? {};
  if (isHeldBack(workload)) return undefined;
  const template = at(workload, ...path);
  if (refused === undefined) return template;
  return at(
    former && isRecord(template) ? patched(workload, path, template, former) : admittedAt(workload, path),
    ...path,
  );
}

function patched(workload: KubeObject, path: readonly string[], template: Json, patch: Json[]): KubeObject {
  try {
    return setAt(workload, path, applyJsonPatch(template, patch)) as unknown as KubeObject;
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
