import { controllersUser, podAdmissionAnnotation } from '../../../cluster/names.ts';
import { podAdmissionOf } from '../../../cluster/pod-admission.ts';
import { sameJson } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isOwn } from '../../authn/controllers.ts';
import type { AdmissionRequest } from '../../plugins.ts';

/** Keeps on the workload what was said of its pods; undefined: nothing is to be kept. Changes `object`. */
export function note(object: KubeObject, text: string | undefined): void {
  const before = object.metadata.annotations ?? {};
  if (text === undefined && !Object.hasOwn(before, podAdmissionAnnotation)) return;
  const { [podAdmissionAnnotation]: _said, ...others } = before;
  const annotations = { ...others, ...(text !== undefined && { [podAdmissionAnnotation]: text }) };
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations;
  else delete object.metadata.annotations;
}

/** The server's own write that changes nothing: it is there to have pods asked about, and nobody is asked about the workload. */
export function isTouch({ user, operation, subresource, object, old }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE' || subresource !== '' || !object || !old || !isOwn(user, controllersUser))
    return false;
  return podAdmissionOf(old)?.refused !== undefined && sameJson(withoutAnswer(object), withoutAnswer(old));
}

/** As it was written, whatever was said of its pods. */
function withoutAnswer({ metadata, ...others }: KubeObject): unknown {
  const { [podAdmissionAnnotation]: _said, ...annotations } = metadata.annotations ?? {};
  const { managedFields: _managers, generation: _generation, ...more } = metadata;
  return { ...others, metadata: { ...more, annotations } };
}
