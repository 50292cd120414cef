import { podAdmissionAnnotation } from '../../../cluster/names.ts';
import type { Later } from '../../../kube/later.ts';
import { getOwn } from '../../../kube/untyped.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { ServedResource } from '../../served.ts';
import { note } from './note.ts';

/** A rule's paths are those of what is stored, which is what physical clusters get, in whatever version it is written. */
export async function askAsStored(
  request: AdmissionRequest,
  as: ServedResource,
  ask: (stored: AdmissionRequest) => Later<void>,
): Promise<void> {
  const { object, old } = request;
  if (!object) return;
  const next = await request.inVersion(object, as);
  const before = old && { old: await request.inVersion(old, as) };
  await ask({
    ...request,
    stored: as,
    object: next,
    ...before,
    inVersion: (one, version) => request.inVersion(one, version),
    warn: (message) => request.warn(message),
    annotate: request.annotate,
  });
  note(object, getOwn(next.metadata.annotations ?? {}, podAdmissionAnnotation));
}
