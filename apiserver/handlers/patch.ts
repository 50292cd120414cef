import { isDeep } from '../../kube/depth.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { conversionProblem } from '../../kube/schema/convert.ts';
import type { Schema } from '../../kube/schema/schema.ts';
import type { Entry } from '../../storage/store.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { ResourceExchange } from '../core.ts';
import { conform, type FieldValidation } from '../decode/body.ts';
import { isClean, noDuplicates } from '../decode/duplicates.ts';
import { type WriteQuery, writeQuery } from '../decode/options.ts';
import { inPatchedOrder, isNamed, kindly, refusedPatch, requireKind } from '../decode/patched.ts';
import { formOf, isAsStored, jsonBytes, respondObject } from '../encode/respond.ts';
import { answerStored } from '../registry/codec.ts';
import { fromStored, toStored } from '../registry/convert.ts';
import { requireVersion } from '../registry/required.ts';
import { updateObject } from '../registry/write.ts';
import { handleApply } from './apply.ts';
import { changePod } from './pods/running.ts';
import { writeContext } from './writes/context.ts';
import { type Patching, patcher, patchType } from './writes/patching.ts';
import { checkNamespace, countsOf, requireName } from './writes/request.ts';

/** PATCH in its four dialects, by Content-Type. https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply */
export async function handlePatch(exchange: ResourceExchange): Promise<ApiResponse> {
  const form = formOf(exchange);
  const { core, info, stored, served } = exchange;
  const type = patchType(exchange);
  const query = writeQuery(exchange, 'PatchOptions', type === 'apply');
  if (type === 'apply') return handleApply(exchange, query);
  const patching = patcher(exchange, type);
  let entry: Entry | undefined;
  const context = {
    ...writeContext(exchange, query, 'UPDATE', info.subresource),
    pinned: patching.pinned,
    patched: true,
    stored: (written: Entry) => {
      entry = written;
    },
  };
  const change = patchedObject(exchange, query, patching);
  const made = await changePod(exchange, query.dryRun, (dryRun) =>
    updateObject(core.registry, stored, info, change, { ...context, dryRun }),
  );
  if ('refused' in made) return made.refused;
  if (entry !== undefined && isAsStored(form, served)) return jsonBytes(200, answerStored(entry));
  return respondObject(exchange, 200, made.object);
}

/** The current object, in the URL's version, patched, checked, and back in the stored version. */
function patchedObject(
  exchange: ResourceExchange,
  query: WriteQuery,
  { patch, value, type, duplicates }: Patching,
): (current: KubeObject) => KubeObject {
  const { served, stored } = exchange;
  const warn = (message: string) => exchange.warnings.add(message);
  return (current) => {
    const before = fromStored(current, served) as unknown as JsonObject;
    const { object: result, written } = patch(before);
    const after = kindly(result, type, served.info);
    // A custom resource is no struct: its fields are in order of their names, like a map's.
    const schema: Schema = served.custom ? { type: 'any' } : served.schema;
    const patched = { type, patch: value, before, after, schema, ...(written && { written }) };
    const problem = () => (type === 'strategic' ? conversionProblem(result, served.info) : undefined);
    // The patch has made it no deeper.
    const deep = isOwnController(exchange.user) || isDeep(before);
    const refuse = {
      deep,
      converted: type === 'strategic',
      ...(written && { literals: written }),
      refuse: (why: string) => refusedPatch(patched, problem() ?? why),
    };
    if (served.custom) requireKind(patched, served.info);
    if (after !== result && !isNamed(result)) throw refusedPatch(patched, problem() ?? '');
    const { validation } = query;
    const counts = written ? countsOf(exchange) : {};
    let clean = isClean(duplicates) && !counts.counts;
    const probe: FieldValidation = validation === 'Strict' ? 'Warn' : validation;
    let object = conform(after, noDuplicates, served, {
      validation: probe,
      warn: () => {
        clean = false;
      },
      ...refuse,
    });
    // What is unknown is told in the order in which kube-apiserver comes upon it, and before counts that are none.
    if (!clean) {
      const asGo = type === 'strategic' ? after : inPatchedOrder(patched);
      object = conform(asGo, duplicates, served, { validation, warn, ...refuse, ...counts });
    }
    requireName(exchange, object);
    checkNamespace(exchange, object);
    requireVersion(object, stored);
    return toStored(object, served);
  };
}
