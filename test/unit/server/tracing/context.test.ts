import { describe, expect, test } from 'vitest';
import { contextIn, headersOf, isSampled } from '../../../../server/tracing/context.ts';

const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const parent = (version: string, flags: string, more = '') => `${version}-${trace}-${span}-${flags}${more}`;
const own = { traceId: trace, spanId: span, state: '' };

describe('traceparent', () => {
  test.each([
    [parent('00', '01'), { ...own, sampled: true }],
    [parent('00', '00'), { ...own, sampled: false }],
    [parent('00', '02'), { ...own, sampled: false }],
    [parent('01', 'ff'), { ...own, sampled: true }],
    [parent('cc', '01', '-what-comes-later'), { ...own, sampled: true }],
    [parent('00', '03'), undefined],
    [parent('00', '01', '-more'), undefined],
    [parent('00', '01', ' '), undefined],
    [parent('cc', '01', 'x'), undefined],
    [parent('ff', '01'), undefined],
    [parent('00', '1'), undefined],
    [parent('00', '0G'), undefined],
    [parent('00', '01').toUpperCase(), undefined],
    [`00-${'0'.repeat(32)}-${span}-01`, undefined],
    [`00-${trace}-${'0'.repeat(16)}-01`, undefined],
    [`00-${trace}-${span}`, undefined],
    [`${parent('00', '01')},${parent('00', '01')}`, undefined],
    [parent('cc', '01', `-${'x'.repeat(1000)}`), undefined],
    ['', undefined],
  ])('%s', (traceparent, expected) => {
    expect(contextIn({ traceparent })).toEqual(expected);
  });

  test('none', () => expect(contextIn({ tracestate: 'a=b' })).toBeUndefined());
});

describe('tracestate', () => {
  test.each([
    ['a=b', 'a=b'],
    ['a=b, c@d=e f', 'a=b,c@d=e f'],
    ['a=b,,c=d', 'a=b,c=d'],
    ['', ''],
    ['a', ''],
    ['A=b', ''],
    ['a=b,a=c', ''],
    ['a=b,c=\u00e9', ''],
    ['a=b=c', ''],
    [Array.from({ length: 33 }, (_, i) => `k${i}=v`).join(','), ''],
    [`a=${'x'.repeat(600)}`, ''],
  ])('%s', (tracestate, state) => {
    expect(contextIn({ traceparent: parent('00', '01'), tracestate })?.state).toBe(state);
  });
});

test('what is passed on', () => {
  expect(headersOf({ ...own, sampled: true })).toEqual({ traceparent: parent('00', '01') });
  expect(headersOf({ ...own, sampled: false, state: 'a=b' })).toEqual({
    traceparent: parent('00', '00'),
    tracestate: 'a=b',
  });
});

describe('whether a trace that begins here is wanted', () => {
  const named = (low: string) => `${'f'.repeat(16)}${low.padEnd(16, '0')}`;
  test.each([
    [named('0'), 1, true],
    [named('0'), 0, false],
    [named('f').replaceAll('0', 'f'), 1_000_000, true],
    [named('f').replaceAll('0', 'f'), 999_999, false],
    [named('8'), 500_000, false],
    [named('7fffffff'), 500_000, true],
    [named('1'), 62_501, true],
    [named('1'), 62_499, false],
  ])('%s of %d', (traceId, perMillion, expected) => {
    expect(isSampled(traceId, perMillion)).toBe(expected);
  });
});
