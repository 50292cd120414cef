import { describe, expect, it } from 'vitest';
import {
  escapeFieldValue,
  labelSelectorFromObject,
  parseFieldSelector,
  parseLabelSelector,
} from '../../../kube/selector.ts';

describe('parseLabelSelector', () => {
  it.each([
    ['', {}, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b, c)', { a: 'c' }, true],
    ['a in (b,)', { a: '' }, true],
    ['a in ()', { a: '' }, true],
    ['a notin (b)', {}, true],
    ['a notin (b)', { a: 'b' }, false],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['! a', {}, true],
    ['a=', { a: '' }, true],
    ['a>1,a<10', { a: '5' }, true],
    ['a>1', { a: 'x' }, false],
    ['a>9223372036854775806', { a: '9223372036854775807' }, true],
    ['in in (in,notin)', { in: 'notin' }, true],
    ['example.com/a=b , c', { 'example.com/a': 'b', c: '' }, true],
    ['toString', {}, false],
  ])('%s on %j', (text, labels, matches) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(matches);
  });

  it.each([
    ['a=b,', "found '', expected: identifier after ','"],
    [',a', "found ',', expected: !, identifier, or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    [
      'a>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ['a=b!', "found '!', expected: ',' or 'end of string'"],
    [
      'a=*',
      "unable to parse requirement: values[0][a]: Invalid value: \"*\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [
      '*=a',
      "unable to parse requirement: <nil>: Invalid value: \"*\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ])('refuses %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: 400, message }));
  });
});

describe('labelSelectorFromObject', () => {
  it('selects nothing when absent, everything when empty', () => {
    expect(labelSelectorFromObject(undefined).matches({ a: 'b' })).toBe(false);
    expect(labelSelectorFromObject(null).matches({})).toBe(false);
    expect(labelSelectorFromObject({}).matches(undefined)).toBe(true);
  });

  it('joins labels and expressions', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { app: 'x' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['a', 'b'] },
        { key: 'gone', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.matches({ app: 'x', tier: 'b' })).toBe(true);
    expect(selector.matches({ app: 'x', tier: 'b', gone: '' })).toBe(false);
    expect(selector.matches({ app: 'x' })).toBe(false);
  });

  it('refuses unknown operators', () => {
    const bad = { matchExpressions: [{ key: 'a', operator: 'toString' }] };
    expect(() => labelSelectorFromObject(bad)).toThrow('"toString" is not a valid label selector operator');
  });
});

describe('parseFieldSelector', () => {
  it.each([
    ['', []],
    ['metadata.name=x', [{ field: 'metadata.name', op: '=', value: 'x' }]],
    [
      'b!=2,a==1,',
      [
        { field: 'a', op: '=', value: '1' },
        { field: 'b', op: '!=', value: '2' },
      ],
    ],
    ['a=x\\,y\\=z\\\\', [{ field: 'a', op: '=', value: 'x,y=z\\' }]],
    ['a=', [{ field: 'a', op: '=', value: '' }]],
  ])('%s', (text, expected) => expect(parseFieldSelector(text)).toEqual(expected));

  it.each([
    ['abc', "invalid selector: 'abc'; can't understand 'abc'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=b\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('refuses %s', (text, message) => expect(() => parseFieldSelector(text)).toThrow(message));

  it('undoes escapeFieldValue', () => {
    const value = 'a,b=c\\d';
    expect(parseFieldSelector(`x=${escapeFieldValue(value)}`)[0]?.value).toBe(value);
  });
});
