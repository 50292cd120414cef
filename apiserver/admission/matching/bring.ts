import { deepEqual } from '../../../kube/deep.ts';
import { andThen, type Later } from '../../../kube/later.ts';
import type { JsonObject, KubeObject } from '../../../kube/object.ts';
import { schemaOf } from '../../../kube/schema/builtin.ts';
import { internalError, isStatusError } from '../../../kube/status.ts';
import { isOwnController } from '../../authn/controllers.ts';
import { conform } from '../../decode/body.ts';
import { noDuplicates } from '../../decode/duplicates.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { defaulted } from '../../registry/context.ts';
import { toStored } from '../../registry/convert.ts';
import type { Meant } from './question.ts';

/**
 * Makes `request.object`, in place, what `meant` shows of it after a change. True when that is another one. Fields that nobody
 * knows are dropped, or, if `strict`, refused with 500. What our own controllers write stays as it is: they may what users may
 * not, such as say where something runs and which logical cluster is whose, and a change would count as theirs.
 */
export function bringIn(
  request: AdmissionRequest,
  { question, as }: Meant,
  changed: JsonObject,
  strict = false,
): Later<boolean> {
  const { object, stored, kind } = request;
  if (object === undefined || isOwnController(request.user)) return false;
  const shape = kind ? { info: { ...as.info, ...kind }, schema: schemaOf(kind) ?? anySchema } : as;
  const next = decoded(changed, shape, strict);
  // A connection's options are shown without the metadata that every object has here.
  if (deepEqual(next, { metadata: {}, ...question.object })) return false;
  const { uid, creationTimestamp } = object.metadata;
  const metadata = { ...next.metadata };
  // That of a new object is not decided yet; another one for what is there is refused, as kube-apiserver does.
  if (uid !== undefined && (request.old === undefined || !metadata.uid)) metadata.uid = uid;
  if (creationTimestamp !== undefined) metadata.creationTimestamp = creationTimestamp;
  const whole = { ...next, metadata };
  const given =
    kind !== undefined || as.conversion === undefined
      ? toStored(whole, as)
      : request.inVersion(whole, stored);
  return andThen(given, (back) => {
    replace(object, kind === undefined ? defaulted(back, stored) : whole);
    return true;
  });
}

const anySchema = { type: 'any' } as const;

function decoded(value: JsonObject, as: Parameters<typeof conform>[2], strict: boolean): KubeObject {
  const validation = strict ? 'Strict' : 'Ignore';
  const refuse = (why: string) =>
    internalError(why.slice(Math.max(0, why.indexOf('json: cannot unmarshal'))));
  try {
    return conform(value, noDuplicates, as, { validation, warn: () => {}, refuse });
  } catch (error) {
    if (isStatusError(error, 'InternalError')) throw error;
    throw internalError(error instanceof Error ? error.message : String(error));
  }
}

function replace(object: KubeObject, next: KubeObject): void {
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, next);
}
