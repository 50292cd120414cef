import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import type { StatusCause } from '../../../../kube/status.ts';
import { floatCauses, scaleCauses } from '../../../../kube/validation/custom/scale.ts';
import { validateSchema } from '../../../../kube/validation/custom/schema.ts';
import { decodeYaml } from '../../../../kube/yaml.ts';

const told = (causes: readonly StatusCause[]) => causes.map(({ field, message }) => `${field}: ${message}`);

describe('a custom resource of which there is a Scale', () => {
  const paths = {
    specReplicasPath: '.spec.n',
    statusReplicasPath: '.status.n',
    labelSelectorPath: '.status.selector',
  };
  const accessor = 'Invalid value: 0: .spec.n accessor error:';

  test.each<[what: string, parts: object, causes: string[]]>([
    ['nothing', {}, []],
    ['what fits', { spec: { n: 2147483647 }, status: { n: 0, selector: 'a=b' } }, []],
    ['less than none', { spec: { n: -3 } }, ['.spec.n: Invalid value: -3: should be a non-negative integer']],
    [
      'too many',
      { spec: { n: 2147483648 } },
      ['.spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647'],
    ],
    [
      'far too many',
      { spec: { n: 9223372036854775807n } },
      ['.spec.n: Invalid value: 9223372036854775807: should be less than or equal to 2147483647'],
    ],
    ['a fraction', { spec: { n: 1.5 } }, [`.spec.n: ${accessor} 1.5 is of the type float64, expected int64`]],
    [
      'more than an integer holds',
      { spec: { n: 2 ** 64 } },
      [`.spec.n: ${accessor} 1.8446744073709552e+19 is of the type float64, expected int64`],
    ],
    ['a text', { spec: { n: '3' } }, [`.spec.n: ${accessor} 3 is of the type string, expected int64`]],
    [
      'no object',
      { spec: [1] },
      [
        '.spec.n: Invalid value: 0: .spec.n accessor error: [1] is of the type []interface {}, expected map[string]interface{}',
      ],
    ],
    [
      'a status',
      { spec: { n: 1 }, status: { n: -1, selector: 2 } },
      [
        '.status.n: Invalid value: -1: should be a non-negative integer',
        '.status.selector: Invalid value: "": .status.selector accessor error: 2 is of the type int64, expected string',
      ],
    ],
  ])('%s', (_, parts, causes) => {
    const object = { apiVersion: 'a/v1', kind: 'A', metadata: {}, ...parts } as unknown as KubeObject;
    expect(told(scaleCauses(object, paths, false))).toEqual(causes);
  });

  test('of a status that is written its spec is not looked at', () => {
    const object = { apiVersion: 'a/v1', kind: 'A', metadata: {}, spec: { n: -1 } } as KubeObject;
    expect(scaleCauses(object, paths, true)).toEqual([]);
  });
});

test.each<[Record<string, string>, string[]]>([
  [{ 'spec.n': '5.0' }, ['5']],
  [{ 'spec.n': '1e3' }, ['1000']],
  [{ 'spec.n': '1E3', 'spec.other': '2.0' }, ['1000']],
  // What is no whole number is told of as such, with what else is wrong.
  [{ 'spec.n': '5.5' }, []],
  [{ 'spec.n': '-0' }, []],
  [{ 'status.n': '1e3' }, []],
])('of a count that is written %j it is told that it is none', (literals, values) => {
  const causes = values.map(
    (value) =>
      `.spec.n: Invalid value: 0: .spec.n accessor error: ${value} is of the type float64, expected int64`,
  );
  expect(told(floatCauses(['.spec.n'], new Map(Object.entries(literals))))).toEqual(causes);
});

describe('an integer of a custom resource', () => {
  const schema = (format?: string) => ({
    type: 'object',
    properties: { count: { type: 'integer', ...(format && { format }) } },
  });

  test.each([
    '10000000000000000',
    '1000000000000000000',
    '9223372036854775000',
    '9223372036854775807',
    '1e18',
  ])('%s', (written) => {
    const { value } = decodeYaml(`count: ${written}`);
    for (const format of [undefined, 'int64'])
      expect(validateSchema(value, schema(format), '', 0)).toEqual([]);
  });

  test('below what 64 bits hold', () => {
    const { value } = decodeYaml('count: -9223372036854775809');
    expect(told(validateSchema(value, schema('int64'), '', 0))).toEqual([
      'count: Invalid value: "float64": count in body must be of type int64: "float64"',
      '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in count',
    ]);
  });
});
