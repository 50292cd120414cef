import type { StatusCause } from '../../status.ts';
import { isRecord } from '../../untyped.ts';

/** allOf, anyOf, oneOf, not: what is wrong as a whole, then what the first of the alternatives asks for. */
export function combined(
  schema: Record<string, unknown>,
  path: string,
  judge: (schema: unknown) => StatusCause[],
): StatusCause[] {
  const { allOf, anyOf, oneOf, not } = schema;
  const refuse = (words: string) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: "": ${JSON.stringify(path)} must ${words}`,
    field: '<nil>',
  });
  const causes: StatusCause[] = [];
  if (Array.isArray(anyOf)) {
    const results = anyOf.map(judge);
    if (!results.some((result) => result.length === 0))
      causes.push(refuse('validate at least one schema (anyOf)'), ...(results[0] ?? []));
  }
  if (Array.isArray(oneOf)) {
    const results = oneOf.map(judge);
    const valid = results.filter((result) => result.length === 0).length;
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    if (valid !== 1) causes.push(refuse(`validate one and only one schema (oneOf). ${found}`));
    if (valid === 0) causes.push(...(results[0] ?? []));
  }
  if (Array.isArray(allOf)) {
    const results = allOf.map(judge);
    const valid = results.filter((result) => result.length === 0).length;
    causes.push(...results.flat());
    const none = valid === 0 ? '. None validated' : '';
    if (valid < results.length) causes.push(refuse(`validate all the schemas (allOf)${none}`));
  }
  if (isRecord(not) && judge(not).length === 0) causes.push(refuse('not validate the schema (not)'));
  return causes;
}
