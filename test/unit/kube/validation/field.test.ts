import { expect, test } from 'vitest';
import { Field } from '../../../../kube/validation/field.ts';

test.each<[string, (field: Field, value: unknown) => void]>([
  ['invalid', (field, value) => field.invalid(value, 'is wrong')],
  ['duplicate', (field, value) => field.duplicate(value)],
  ['not supported', (field, value) => field.notSupported(value, [])],
  ['not found', (field, value) => field.notFound(value)],
])('a value that is %s is written as often as there is room for it', (_, complain) => {
  let written = 0;
  const value = {
    toJSON: () => {
      written++;
      return 'v'.repeat(100_000);
    },
  };
  const field = new Field([], 'a');
  for (let i = 0; i < 100; i++) complain(field, value);
  expect(field.causes).toHaveLength(10);
  expect(written).toBe(10);
});
