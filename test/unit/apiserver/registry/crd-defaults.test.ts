import { describe, expect, it } from 'vitest';
import { defaultCauses } from '../../../../apiserver/registry/crd-defaults.ts';

const at = 'spec.validation.openAPIV3Schema.properties[a].default';

function causes(a: object): string[] {
  const schema = { openAPIV3Schema: { type: 'object', properties: { a } } };
  const found = defaultCauses({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'tides.example.com' },
    spec: { versions: [{ name: 'v1', schema }] },
  });
  return found.map(({ field, message }) => `${field}: ${message}`);
}

describe('defaultCauses', () => {
  it.each<[string, object, string[]]>([
    ['of its type', { type: 'integer', default: 1, minimum: 0 }, []],
    [
      'out of range',
      { type: 'integer', default: 1, maximum: 0 },
      [`${at}: Invalid value: 1:  in body should be less than or equal to 0`],
    ],
    [
      'of another type',
      { type: 'integer', default: 'a' },
      [`${at}: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    [
      'with a field that nobody knows',
      { type: 'object', properties: { b: { type: 'string' } }, default: { c: 1 } },
      [`${at}: Invalid value: {"c":1}: must not have unknown fields`],
    ],
    [
      'with fields that may be any',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: { c: 1 } },
      [],
    ],
    [
      'that breaks a rule',
      {
        type: 'object',
        properties: { b: { type: 'integer' } },
        default: { b: 1 },
        'x-kubernetes-validations': [{ rule: 'self.b > 1' }],
      },
      [`${at}: Invalid value: failed rule: self.b > 1`],
    ],
  ])('judges a default %s', (_what, schema, expected) => {
    expect(causes(schema)).toEqual(expected);
  });
});
