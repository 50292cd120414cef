import { describe, expect, it } from 'vitest';
import { defaults } from '../../../../kube/validation/custom/defaults.ts';
import { Field } from '../../../../kube/validation/field.ts';

const at = 'schema.properties[a].default';

function causes(a: object): string[] {
  const root = new Field([], 'schema');
  defaults({ type: 'object', properties: { a } }, root);
  return root.causes.map(({ field, message }) => `${field}: ${message}`);
}

describe('defaults', () => {
  it.each<[string, object, string[]]>([
    ['of its type', { type: 'integer', default: 1, minimum: 0 }, []],
    [
      'out of range',
      { type: 'integer', default: 1, maximum: 0 },
      [`${at}: Invalid value: 1:  in body should be less than or equal to 0`],
    ],
    [
      'and a bound beyond 32 bits',
      { type: 'integer', format: 'int32', default: 1, maximum: 99999999999 },
      [`${at}: Invalid value: "": Maximum boundary value must be of type integer with format int32 in `],
    ],
    [
      'beyond 32 bits',
      { type: 'integer', format: 'int32', default: 3000000000 },
      [`${at}: Invalid value: "": Checked value must be of type integer with format int32 in `],
    ],
    [
      'a fraction of a whole number',
      { type: 'integer', format: 'int32', default: 1.5 },
      [
        `${at}: Invalid value: "float64":  in body must be of type int32: "float64"`,
        `${at}: Invalid value: "": Checked value must be of type integer with format int32 in `,
      ],
    ],
    [
      'no multiple of what is none',
      { type: 'integer', default: 1, multipleOf: -1 },
      [`${at}: Invalid value: -1: factor MultipleOf declared for  must be positive: -1`],
    ],
    [
      'longer than nothing',
      { type: 'string', default: 'a', maxLength: -1 },
      [`${at}: Too long: value is too long`],
    ],
    [
      'of a type that is none',
      { type: 'other', format: 'int32', default: 1 },
      [`${at}: Invalid value: "int64":  in body must be of type int32: "int64"`],
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
      'with an item of another type',
      { type: 'array', items: { type: 'string' }, default: [1] },
      [`${at}.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"`],
    ],
    [
      'of a set with something twice',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', default: ['a', 'a'] },
      [],
    ],
    [
      'of a whole resource that says no kind',
      {
        type: 'object',
        properties: { b: { type: 'string' } },
        'x-kubernetes-embedded-resource': true,
        default: { b: 'x' },
      },
      [`${at}.apiVersion: Required value`, `${at}.kind: Required value`],
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
