import { formatApiVersion, type GroupVersionKind } from '../gvk.ts';
import type { Json, JsonObject } from '../object.ts';
import { badRequest } from '../status.ts';
import { Decoder, noLiterals } from './decoder.ts';
import { isAsItIs } from './exact.ts';
import { structNamed, structOf } from './go.ts';
import { cannotHandle } from './refusal.ts';
import { wrapped } from './wrapped.ts';

export interface Decoded {
  value: JsonObject;
  /** `unknown field "spec.foo"`: warnings, or with fieldValidation=Strict one error. */
  unknown: string[];
}

/**
 * `value` as kube-apiserver's JSON decoder takes it for a built-in kind: unknown fields and nulls are dropped, names
 * are case-sensitive, and the first value of a wrong type ends it.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
 * @throws StatusError 400 BadRequest in kube-apiserver's words, or for a kind that is not built in.
 */
export function decodeBuiltin(value: JsonObject, gvk: GroupVersionKind): Decoded {
  const { error, ...decoded } = decodeStruct(value, gvk);
  if (error !== undefined) throw cannotHandle(gvk, error);
  return decoded;
}

/**
 * As decodeBuiltin; what ends it is answered, not thrown. The answer's value may be the argument. `literals`: as
 * decodeJson's. `converted`: of a map, which kube-apiserver makes a struct of without its decoder.
 */
export function decodeStruct(
  value: JsonObject,
  gvk: GroupVersionKind,
  literals: ReadonlyMap<string, string> = noLiterals,
  converted = false,
): Decoded & { error?: string } {
  const struct = structOf(gvk.group, gvk.version, gvk.kind);
  if (struct === undefined) {
    throw badRequest(`no kind "${gvk.kind}" is registered for version "${formatApiVersion(gvk)}"`);
  }
  if (literals.size === 0 && isAsItIs(value, struct)) return { value, unknown: [] };
  const decoder = new Decoder(literals);
  const decoded = decoder.struct(converted ? wrapped(value, struct) : value, struct) as JsonObject;
  const { error, unknown } = decoder;
  return { value: decoded, unknown, ...(error !== undefined && { error }) };
}

/** metadata by itself, as it is read of a custom resource; what it does not know is dropped without a word. */
export function decodeMetadata(value: Json): { value?: Json; error?: string } {
  const struct = structNamed('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  if (struct === undefined) return { value };
  const decoder = new Decoder();
  const [decoded, error] = [decoder.struct(value, struct), decoder.error];
  return { ...(decoded !== undefined && { value: decoded }), ...(error !== undefined && { error }) };
}
