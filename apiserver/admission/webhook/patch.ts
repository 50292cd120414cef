import type { Later } from '../../../kube/later.ts';
import type { Json, JsonObject } from '../../../kube/object.ts';
import { applyJsonPatch } from '../../../kube/patch/json.ts';
import { whyNoJsonPatch } from '../../../kube/patch/json-problem.ts';
import { internalError } from '../../../kube/status.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { bringIn } from '../matching/bring.ts';
import type { Meant } from '../matching/question.ts';

/** Brings a webhook's patch into `request.object`, in place. True when that changed anything. */
export function applyPatch(
  request: AdmissionRequest,
  asked: Meant & { hook: { name: string } },
  patch: Json,
): Later<boolean> {
  if (Array.isArray(patch) && patch.length === 0) return false;
  if (request.object === undefined) {
    const name = JSON.stringify(asked.hook.name);
    throw internalError(
      `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
    );
  }
  const before = asked.question.object as unknown as JsonObject;
  const patched = patchedJson(before, patch) as JsonObject;
  return bringIn(request, asked, patched);
}

function patchedJson(before: JsonObject, patch: Json): Json {
  try {
    return applyJsonPatch(before, patch);
  } catch (error) {
    throw internalError(
      whyNoJsonPatch(before, patch) ?? (error instanceof Error ? error.message : String(error)),
    );
  }
}
