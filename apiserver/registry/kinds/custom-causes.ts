import { hasRules, validateRules } from '../../../kube/cel/validate.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { StatusCause } from '../../../kube/status.ts';
import { isRecord } from '../../../kube/untyped.ts';
import { embeddedCauses } from '../../../kube/validation/custom/embedded.ts';
import { validateLists } from '../../../kube/validation/custom/lists.ts';
import { type ScalePaths, scaleCauses } from '../../../kube/validation/custom/scale.ts';
import { validateSchema } from '../../../kube/validation/custom/schema.ts';

/** Rules are for objects that are sound otherwise: what else is wrong with their types can only confuse them. */
const blocking = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];

const notChecked: StatusCause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};

interface Validated {
  openapi: unknown;
  scale: ScalePaths | undefined;
  subresource: string;
}

/** What is wrong with a custom resource by its schema; `warn` is told of what is let pass. */
export function customCauses(
  object: KubeObject,
  old: KubeObject | undefined,
  { openapi, scale, subresource }: Validated,
  warn: ((text: string) => void) | undefined,
): StatusCause[] {
  const { metadata: _metadata, ...rest } = object;
  const { metadata: _before, ...before } = old ?? {};
  const schema = withoutMetadata(openapi);
  const causes = [
    ...validateSchema(rest, schema, '', 0, old && before),
    ...(scale ? scaleCauses(object, scale, subresource === 'status') : []),
    ...embeddedCauses(rest, schema),
    ...listCauses(rest, old && before, schema),
  ];
  if (hasRules(openapi) && causes.some(({ reason }) => reason !== undefined && blocking.includes(reason)))
    return [...causes, notChecked];
  return [...causes, ...validateRules(object, old, openapi, { warn })];
}

/** What was stored with something twice may go on so. */
function listCauses(object: object, old: object | undefined, schema: unknown): StatusCause[] {
  const causes = validateLists(object, schema);
  return causes.length > 0 && old !== undefined && validateLists(old, schema).length > 0 ? [] : causes;
}

/** metadata has rules of its own. */
function withoutMetadata(openapi: unknown): unknown {
  if (!isRecord(openapi) || !Array.isArray(openapi['required'])) return openapi;
  return { ...openapi, required: openapi['required'].filter((name) => name !== 'metadata') };
}
