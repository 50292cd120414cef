import type { WorkloadKind } from '../../../cluster/kinds.ts';
import {
  admittedAt,
  isHeldBack,
  type PodAdmission,
  podAdmissionOf,
  textOfAdmission,
  writtenOfPods,
} from '../../../cluster/pod-admission.ts';
import { sameJson } from '../../../kube/deep.ts';
import type { Json, JsonObject, KubeObject } from '../../../kube/object.ts';
import { jsonPatchBetween } from '../../../kube/patch/diff.ts';
import { applyJsonPatch } from '../../../kube/patch/json.ts';
import type { ResourceInfo } from '../../../kube/schema/resource.ts';
import { forbidden, StatusError } from '../../../kube/status.ts';
import { at, isRecord } from '../../../kube/untyped.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { note } from './note.ts';
import { refusalAfter } from './words.ts';

/** A workload that is written, whose pods are made elsewhere. */
export interface Written {
  kind: WorkloadKind;
  info: ResourceInfo;
  object: KubeObject;
  /** As it was asked about before. */
  old: KubeObject | undefined;
  path: readonly string[];
  template: JsonObject;
}

/** What is said of a template; neither: nobody has anything to say. */
export interface Said {
  admitted?: JsonObject;
  refused?: string;
  /** It is another template of the workload that is refused. */
  isElsewhere?: boolean;
}

/** What is refused is where its rule led before, and this is where it leads now. */
export function isMoved({ old, path }: Written): boolean {
  const before = old && podAdmissionOf(old);
  return before?.refused !== undefined && before.path !== undefined && !sameJson(before.path, path);
}

/** The template of what runs, as it was written and as its pods are made; undefined: nothing does. */
export function runsOf(it: Written): { written: Json; admitted: JsonObject } | undefined {
  const { old, path } = it;
  if (!old || isHeldBack(old) || isMoved(it)) return undefined;
  const admitted = at(admittedAt(old, path), ...path);
  if (!isRecord(admitted)) return undefined;
  return { written: writtenOfPods(old, path) as Json, admitted: admitted as JsonObject };
}

/** A patch that does not apply would leave the template as it is written. */
function leadsTo(next: Json, template: Json, patch: Json[]): boolean {
  try {
    return sameJson(applyJsonPatch(template, patch), next);
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}

/** Keeps on the workload what becomes of its template. */
export function settle(
  request: AdmissionRequest,
  written: Written,
  { admitted, refused, isElsewhere = false }: Said,
): void {
  const { kind, object, old, path, template } = written;
  const runs = refused === undefined ? undefined : runsOf(written);
  if (runs && !isElsewhere && sameJson(runs.admitted, template)) {
    // Who goes back to what runs asks for no new pod.
    note(object, undefined);
    return;
  }
  if (refused !== undefined)
    request.warn(`none of its pods is made of this template as long as they are refused: ${refused}`);
  const to = (next: Json) => {
    const patch = jsonPatchBetween(template, next) as unknown as Json[];
    if (leadsTo(next, template, patch)) return patch;
    throw forbidden(
      kind,
      request.name,
      'what becomes of its template cannot be kept: its lists are too long',
    );
  };
  const next = admitted ?? runs?.admitted;
  const before = old && sameJson(at(old, ...path), template) ? podAdmissionOf(old) : undefined;
  const said: PodAdmission = {
    ...(refused !== undefined && refusalAfter(before, refused)),
    ...(next && { patch: to(next) }),
    ...(runs && !sameJson(runs.written, runs.admitted) && { former: to(runs.written) }),
    ...(next && kind.rule && { path: [...path] }),
  };
  try {
    note(object, textOfAdmission(said));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw forbidden(kind, request.name, `what becomes of its template cannot be kept: ${error.message}`);
  }
}
