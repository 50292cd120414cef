import { expect, test } from 'vitest';
import { Budget, compileCondition } from '../../../../kube/cel/rule.ts';

/** What kube-apiserver 1.36.3 says of the same expression, of an object's text `v`. */
function run(expression: string, v: string): unknown {
  const condition = compileCondition(expression);
  if (condition instanceof Error) return condition.message;
  try {
    return condition({ object: { v } }, new Budget());
  } catch (error) {
    return (error as Error).message;
  }
}

const unread = (type: string) => `type conversion error from 'string' to '${type}'`;
const fits = (clause: string, type: string) => `error during formatting: ${clause}, was given ${type}`;

test.each<[string, string, unknown]>([
  ['uint(object.v) == 1u', '+1', unread('uint')],
  ['uint(object.v) == 1u', '-1', unread('uint')],
  ['uint(object.v) == 18446744073709551615u', '18446744073709551615', true],
  ['uint(object.v) == 1u', '18446744073709551616', unread('uint')],
  ['int(object.v) == 1', '+1', true],
  ['int(object.v) == 1', '9223372036854775808', unread('int')],
  ['int(object.v) == 16', '0x10', unread('int')],
  ['double(object.v) == 1000.0', '1_000', true],
  ['double(object.v) == 1000.0', '1__000', unread('double')],
  ['double(object.v) < 0.0', '-Infinity', true],
  ['double(object.v) == 1.0', '1E400', unread('double')],
  ['double(object.v) == 1.0', '-nan', unread('double')],
  ['timestamp(object.v) == timestamp(0)', '2020-02-30T00:00:00Z', unread('google.protobuf.Timestamp')],
  ['timestamp(object.v) == timestamp(0)', '2020-01-01T24:00:00Z', unread('google.protobuf.Timestamp')],
  ['timestamp(object.v) == timestamp(0)', '2020-01-01t00:00:00z', unread('google.protobuf.Timestamp')],
  ['timestamp(object.v) == timestamp(0)', '0000-01-01T00:00:00Z', 'timestamp overflow'],
  ['timestamp(object.v) + duration("1h") == timestamp(0)', '9999-12-31T23:59:59Z', 'timestamp overflow'],
  ['timestamp(object.v) == timestamp(1577836800)', '2020-01-01T01:00:00+01:00', true],
  ['duration(object.v) == duration("1s")', '99999999999s', unread('google.protobuf.Duration')],
  ['object.v.indexOf("1", 99) == -1', '1', true],
  ['"%d".format([object.v]) == ""', 'x', fits('decimal clause can only be used on integers', 'string')],
  ['"%d".format([1.5]) == object.v', 'x', fits('decimal clause can only be used on integers', 'double')],
  ['"%f".format([object.v]) == ""', 'x', fits('fixed-point clause can only be used on doubles', 'string')],
  ['"%e".format([1]) == object.v', 'x', fits('scientific clause can only be used on doubles', 'int')],
  [
    '"%b".format([object.v]) == ""',
    'x',
    fits('only integers and bools can be formatted as binary', 'string'),
  ],
  ['"%o".format([object.v]) == ""', 'x', fits('octal clause can only be used on integers', 'string')],
  [
    '"%x".format([1.5]) == object.v',
    'x',
    fits('only integers, byte buffers, and strings can be formatted as hex', 'double'),
  ],
  ['(object.v + "%").format([1]) == ""', 'x', 'unexpected end of string'],
  ['(object.v + "%").format([]) == ""', 'x', 'index 0 out of range'],
  [
    '(object.v + "% d").format([1]) == ""',
    'x',
    'could not parse formatting clause: unrecognized formatting clause " "',
  ],
  ['(object.v + "%% %d %.1f %x").format([1, 2.0, "a"]) == "x% 1 2.0 61"', 'x', true],
])('%s, of %j', (expression, v, expected) => {
  expect(run(expression, v)).toEqual(expected);
});
