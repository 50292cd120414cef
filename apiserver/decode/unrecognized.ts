import type { GroupVersionKind } from '../../kube/gvk.ts';
import { badRequest, type StatusError } from '../../kube/status.ts';

/** The 400 for a body that is no object of any kind: `why`, and how it begins. */
export function unrecognized(expected: GroupVersionKind, why: string, body: Uint8Array): StatusError {
  if (expected.kind === 'DeleteOptions') return badRequest(why);
  return badRequest(
    `the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${excerpt(body)})`,
  );
}

const excerptBytes = 30;

/** The first bytes: as text where they begin an object, else in hexadecimal; as kube-apiserver shows them. */
function excerpt(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const head = Buffer.from(body.subarray(0, excerptBytes));
  const shown = head[0] === 0x7b ? head.toString() : head.toString('hex');
  return body.length > excerptBytes ? `${shown} ...` : shown;
}
