import { describe, expect, it } from 'vitest';
import { correlation, validateRules } from '../../../../kube/cel/validate.ts';

type Rule = Record<string, unknown>;

const properties = {
  min: { type: 'integer' },
  max: { type: 'integer' },
  size: { type: 'string' },
  'x-y': { type: 'string' },
  list: { type: 'array', items: { type: 'integer' } },
  names: { type: 'array', items: { type: 'string' } },
  when: { type: 'string', format: 'date-time' },
  lasts: { type: 'string', format: 'duration' },
  any: { 'x-kubernetes-int-or-string': true },
  rows: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        a: { type: 'integer' },
        b: { type: 'integer' },
        deep: { type: 'array', items: { type: 'object', properties: { c: { type: 'integer' } } } },
      },
    },
  },
};

function judge(rule: Rule, value: unknown, old?: unknown): string[] {
  const schema = { type: 'object', properties, 'x-kubernetes-validations': [rule] };
  return validateRules(value, old, schema).map(
    ({ field, reason, message }) => `${field} ${reason} ${message}`,
  );
}

describe('validation rules hold for', () => {
  it.each<[string, unknown]>([
    ['self.min <= self.max', { min: 1, max: 2 }],
    ['!has(self.min)', {}],
    ["self.x__dash__y.matches('^a+$')", { 'x-y': 'aa' }],
    ["isQuantity(self.size) && quantity(self.size).isLessThan(quantity('1Gi'))", { size: '5Mi' }],
    ['self.list.isSorted() && self.list.sum() == 6 && self.list.max() == 3', { list: [1, 2, 3] }],
    ["self.names.all(n, n.find('[0-9]+') == '7')", { names: ['a7'] }],
    ["self.names.exists(n, n.replace('a', 'b') == 'bb')", { names: ['aa'] }],
    ["self.when < timestamp('2030-01-01T00:00:00Z')", { when: '2020-01-01T00:00:00Z' }],
    ['type(self.any) == int ? self.any > 0 : self.any.endsWith("%")', { any: '5%' }],
    ["cidr('10.0.0.0/8').containsIP('10.1.2.3') && isIP('::1')", {}],
    ["url('https://a.b:80/c').getPort() == '80' || url('https://a.b:81/c').getPort() == '81'", {}],
    ["self.?size.orValue('1') == '1'", {}],
    ['format.dns1123Label().validate(self.size).hasValue() == false', { size: 'a-b' }],
    ["format.named('uuid').value().validate(self.size).hasValue()", { size: 'x' }],
    ['format.dns1035LabelPrefix().validate(self.size) == optional.none()', { size: 'a-' }],
    // Members of what is no variable.
    ['has(self.rows[0].a) && !has(self.rows[0].b)', { rows: [{ a: 1 }] }],
    ['self.rows.all(r, has(self.rows[size(r.deep) - 1].deep[0].c))', { rows: [{ a: 1, deep: [{ c: 1 }] }] }],
    ['has(self.rows.filter(r, has(r.deep[0].c))[0].a)', { rows: [{ a: 1, deep: [{ c: 1 }] }] }],
  ])('%s', (rule, value) => {
    expect(judge({ rule }, value)).toEqual([]);
  });
});

describe('a broken validation rule says', () => {
  it.each<[Rule, unknown, string]>([
    [
      { rule: 'self.min > 1' },
      { min: 1 },
      '<nil> FieldValueInvalid Invalid value: failed rule: self.min > 1',
    ],
    [{ rule: 'self.min > 1', message: ' so ' }, { min: 1 }, '<nil> FieldValueInvalid Invalid value: so'],
    [
      { rule: 'false', messageExpression: "'min %d'.format([self.min])" },
      { min: 1 },
      '<nil> FieldValueInvalid Invalid value: min 1',
    ],
    [
      { rule: 'false', message: 'plain', messageExpression: 'self.size' },
      { min: 1 },
      '<nil> FieldValueInvalid Invalid value: plain',
    ],
    [
      { rule: 'false', message: 'no', fieldPath: '.min', reason: 'FieldValueRequired' },
      {},
      'min FieldValueRequired Required value: no',
    ],
    [
      { rule: 'self.list[0] > 0', message: 'first' },
      { list: [] },
      '<nil> FieldValueInvalid Invalid value: "object": index out of bounds: 0 evaluating rule: first',
    ],
    [
      { rule: 'self.max > 0' },
      {},
      '<nil> FieldValueInvalid Invalid value: "object": no such key: max evaluating rule: self.max > 0',
    ],
  ])('%o', (rule, value, cause) => {
    expect(judge(rule, value)).toEqual([cause]);
  });
});

describe('transition rules', () => {
  const immutable = { rule: 'self.min == oldSelf.min', message: 'fixed' };
  const fixed = '<nil> FieldValueInvalid Invalid value: fixed';

  it.each<[Rule, unknown, unknown, string[]]>([
    [immutable, { min: 1 }, undefined, []],
    [immutable, { min: 1 }, { min: 1 }, []],
    [immutable, { min: 1 }, { min: 2 }, [fixed]],
    [{ ...immutable, rule: 'oldSelf.hasValue()', optionalOldSelf: true }, { min: 1 }, undefined, [fixed]],
    [{ ...immutable, rule: 'oldSelf.hasValue()', optionalOldSelf: true }, { min: 1 }, { min: 2 }, []],
  ])('%o of %o before %o', (rule, value, old, causes) => {
    expect(judge(rule, value, old)).toEqual(causes);
  });

  it('let pass what was broken before and did not change', () => {
    const rule = { rule: 'self.min > 5', message: 'small' };
    expect(judge(rule, { min: 1 }, { min: 1 })).toEqual([]);
    expect(judge(rule, { min: 2 }, { min: 1 })).toHaveLength(1);
  });
});

it('neither hostile expressions nor loops in loops over large values take time', () => {
  // Without a bound either would take longer than a test may.
  const names = [`${'a'.repeat(30_000)}!`];
  expect(judge({ rule: "self.names[0].matches('^(a+)+$')", message: 'm' }, { names })).toHaveLength(1);
  const list = Array.from({ length: 50_000 }, (_, i) => i);
  const nested = { rule: 'self.list.all(x, self.list.all(y, x + y >= 0))' };
  expect(judge(nested, { list })[0]).toContain('call cost exceeds limit for rule');
});

it.each(['72h', '3d', '3 days', '2days 24h'])('%s is as long as a rule finds it to be', (lasts) => {
  expect(judge({ rule: 'self.lasts == duration("72h")' }, { lasts })).toEqual([]);
  expect(judge({ rule: 'self.lasts > duration("72h")' }, { lasts })).toHaveLength(1);
});

it('tells what it lets pass, since it was so before and has not changed', () => {
  const schema = {
    type: 'object',
    properties: {
      size: { type: 'string', 'x-kubernetes-validations': [{ rule: "self != 'bad'", message: 'no bad' }] },
      max: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
    },
    'x-kubernetes-validations': [{ rule: 'self.max < 1', fieldPath: '.max', reason: 'FieldValueForbidden' }],
  };
  const told = (value: object, old: object | undefined) => {
    const texts: string[] = [];
    const causes = validateRules(value, old, schema, { warn: (text) => texts.push(text) });
    return [causes.map(({ message }) => message), texts];
  };
  const forbidden = 'Forbidden: failed rule: self.max < 1';
  const before = { size: 'bad', max: 2 };
  expect(told(before, { ...before })).toEqual([
    [],
    [`max: ${forbidden}`, 'size: Invalid value: "bad": no bad'],
  ]);
  expect(told({ ...before, min: 1 }, before)).toEqual([[forbidden], ['size: Invalid value: "bad": no bad']]);
  expect(told(before, undefined)).toEqual([[forbidden, 'Invalid value: "bad": no bad'], []]);
});

describe('correlation', () => {
  const schema = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'l'] };
  const before = [{ k: 1 }, { k: '1' }, { k: 2n ** 62n }, { k: true }, { k: 'true' }, {}, { k: null }];
  const find = correlation([{ k: { a: 1 } }, ...before, { k: 1, v: 'again' }], schema);

  it.each(before)('an item stands for the first one with equal keys: %o', (item) => {
    expect(find({ ...item, v: 1 })).toBe(item);
  });

  it.each([{ k: 1, l: 'x' }, { k: '"1' }, { k: { a: 1 } }, 'x'])('none: %o', (item) => {
    expect(find(item)).toBeUndefined();
  });
});
