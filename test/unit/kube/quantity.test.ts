import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scaledIntOrPercent } from '../../../kube/int-or-string.ts';
import {
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  quantityProblem,
  scaledQuantity,
  subtractQuantity,
} from '../../../kube/quantity.ts';

describe('quantity', () => {
  it.each([
    ['0', '0'],
    ['0.0', '0'],
    ['1.5', '1500m'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1024Ki', '1Mi'],
    ['1000Ki', '1000Ki'],
    ['0.1Mi', '104857600m'],
    ['1000m', '1'],
    ['0.1m', '100u'],
    ['0.1n', '1n'],
    ['1000', '1k'],
    ['12e6', '12e6'],
    ['12.5e6', '12500e3'],
    ['1E3', '1E3'],
    ['100E', '100E'],
    ['-1.5', '-1500m'],
    ['+1', '+1'],
    ['.5', '500m'],
    ['1.', '1.'],
    ['1.500', '1.500'],
    ['9223372036854775807', '9223372036854775807'],
    ['10Ei', '9223372036854775807'],
    ['1e1000', '10e999'],
    ['1e-99999', '1e-9'],
    [250, '250'],
    [0.25, '250m'],
    [1e21, '1e21'],
  ])('%s is %s', (text, canonical) => expect(canonicalQuantity(text)).toBe(canonical));

  it.each([
    ['', 'regular expression'],
    ['a', 'regular expression'],
    ['1 Gi', 'regular expression'],
    ['1.1.1', 'regular expression'],
    ['1Kk', 'suffix'],
    ['1gi', 'regular expression'],
    ['1i', 'suffix'],
    ['1e1001', 'suffix'],
    ['0'.repeat(1025), 'regular expression'],
  ])('refuses %j', (text, message) => expect(() => parseQuantity(text)).toThrow(message));

  it.each([
    ['1Gi', '1G', 1],
    ['1000m', '1', 0],
    ['-1', '1m', -1],
    ['1e3', '1k', 0],
  ])('compares %s with %s', (a, b, order) => {
    expect(compareQuantity(parseQuantity(a), parseQuantity(b))).toBe(order);
  });

  it.each([
    ['100m', '1', '1100m'],
    ['1Gi', '512Mi', '1536Mi'],
    ['0', '1Gi', '1Gi'],
    ['1Ki', '1m', '1024001m'],
  ])('%s + %s = %s', (a, b, sum) => {
    const total = addQuantity(parseQuantity(a), parseQuantity(b));
    expect(formatQuantity(total)).toBe(sum);
    expect(compareQuantity(subtractQuantity(total, parseQuantity(b)), parseQuantity(a))).toBe(0);
  });

  it.each([' 1 ', '\u00a01\u3000', '+', '.', 'Ki', 'e3', 10n ** 30n, 1.5])('an API takes %s', (value) => {
    expect(quantityProblem(value)).toBeUndefined();
  });

  it.each([
    '',
    ' ',
    '\ufeff1',
    '\n1',
    '1\n',
    '\t1',
    '1e',
    '1 1',
    `1000.${'0'.repeat(1100)}`,
    '1e999999',
    true,
    {},
    null,
    undefined,
  ])('an API refuses %j', (value) => expect(quantityProblem(value)).toMatch(/quantit/));

  it('rounds away from zero when scaled', () => {
    expect(scaledQuantity(parseQuantity('1500m'))).toBe(2n);
    expect(scaledQuantity(parseQuantity('-1500m'))).toBe(-2n);
    expect(scaledQuantity(parseQuantity('1'), -3)).toBe(1000n);
    expect(scaledQuantity(parseQuantity('2Ki'))).toBe(2048n);
  });

  it('what it writes means the same and is stable', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'E-2');
    const number = fc.tuple(fc.integer({ min: -99999, max: 99999 }), fc.option(fc.nat(999)));
    fc.assert(
      fc.property(number, suffix, ([whole, fraction], unit) => {
        const text = `${whole}${fraction === null ? '' : `.${fraction}`}${unit}`;
        const q = parseQuantity(text);
        const again = parseQuantity(formatQuantity({ value: q.value, scale: q.scale, format: q.format }));
        expect(compareQuantity(q, again)).toBe(0);
        expect(formatQuantity(again)).toBe(canonicalQuantity(formatQuantity(again)));
      }),
    );
  });
});

describe('scaledIntOrPercent', () => {
  it.each([
    [3, 10, 'up', 3],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['100%', 7, 'down', 7],
    ['0%', 7, 'up', 0],
  ] as const)('%s of %i, rounded %s', (value, total, rounding, expected) => {
    expect(scaledIntOrPercent(value, total, rounding)).toBe(expected);
  });

  it('refuses text that is no percentage', () => {
    expect(() => scaledIntOrPercent('5', 10, 'up')).toThrow('invalid type: string is not a percentage');
    expect(() => scaledIntOrPercent('x%', 10, 'up')).toThrow('invalid value "x%"');
  });
});
