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
  ['double(object.v) == 0.25', '0x1p-2', true],
  ['double(object.v) == -3.0', '-0X1.8P+1', true],
  ['double(object.v) == 16.0', '0x_1_0p0', true],
  ['double(object.v) == 0.5', '0x.8p0', true],
  ['double(object.v) == 0.0', '0x0p9999', true],
  ['double(object.v) == 1.0', '0x10', unread('double')],
  ['double(object.v) == 1.0', '0x1p', unread('double')],
  ['double(object.v) == 1.0', '0xp1', unread('double')],
  ['double(object.v) == 1.0', '0x1p9999', unread('double')],
  ['double(object.v) == 1.0', '0x1__0p0', unread('double')],
  ['string(timestamp(object.v)) == object.v', '2023-01-01T00:00:00+02:00', true],
  ['string(timestamp(object.v)) == object.v', '2023-01-01T00:00:00.123456789-05:30', true],
  ['string(timestamp(object.v)) == "2023-01-01T00:00:00Z"', '2023-01-01T0:00:00-00:00', true],
  [
    'string(timestamp(object.v)) == "2023-01-01T00:00:00.123456789Z"',
    '2023-01-01T00:00:00,1234567891Z',
    true,
  ],
  ['string(timestamp(object.v)) == "2023-01-01T00:00:00+25:00"', '2023-01-01T00:00:00+24:60', true],
  [
    'string(timestamp(object.v) - duration("1h")) == "2022-12-31T23:00:00+02:00"',
    '2023-01-01T00:00:00+02:00',
    true,
  ],
  [
    'string(timestamp(object.v) + duration("1ns")) == "1969-12-31T23:59:59.500000001Z"',
    '1969-12-31T23:59:59.5Z',
    true,
  ],
  ['string(timestamp(object.v) - timestamp(0)) == "725846400s"', '1993-01-01T00:00:00.000000001Z', true],
  [
    'string(timestamp(object.v) - timestamp(0)) == "1672531200.1234567s"',
    '2023-01-01T00:00:00.123456700Z',
    true,
  ],
  ['string(timestamp(0) - timestamp(object.v)) == "-0.000000012s"', '1970-01-01T00:00:00.000000012Z', true],
  ['string(timestamp(object.v) - timestamp(0)) == "0s"', '1970-01-01T00:00:00Z', true],
  ['timestamp(object.v) - timestamp(0) == duration("1ns")', '1970-01-01T00:00:00.000000001Z', true],
  [
    'timestamp(object.v) > timestamp(0) && timestamp(object.v) != timestamp(0)',
    '1970-01-01T00:00:00.000000001Z',
    true,
  ],
  ['"%s".format([timestamp(object.v)]) == object.v', '2023-01-01T00:00:00.123456789+02:00', true],
  ['timestamp(object.v) == timestamp(0)', '0001-01-01T00:00:00+01:00', 'timestamp overflow'],
  ['timestamp(0).getHours(object.v) == 22', '-2:00', true],
  ['timestamp(0).getHours(object.v) == 4', '+100:00', true],
  ['timestamp(0).getMinutes(object.v) == 30', '-0:30', true],
  ['timestamp(0).getHours(object.v) == 0', '', true],
  ['timestamp(0).getHours(object.v) == 1', 'Europe/Berlin', true],
  ['timestamp(0).getHours(object.v) == 1', 'europe/berlin', 'unknown time zone europe/berlin'],
  ['timestamp(0).getHours(object.v) == 0', 'utc', 'unknown time zone utc'],
  ['timestamp(0).getHours(object.v) == 0', 'PST', 'unknown time zone PST'],
  ['timestamp(0).getHours(object.v) == 0', 'Etc/Utc', 'unknown time zone Etc/Utc'],
  ['timestamp(0).getHours(object.v) == 0', '/UTC', 'time: invalid location name'],
  ['timestamp(0).getHours(object.v) == 0', 'Factory', true],
  ['timestamp(0).getHours(object.v) == 9', 'ROK', true],
  ['timestamp(0).getHours(object.v) == 0', 'a:1', 'strconv.Atoi: parsing "a": invalid syntax'],
  ['timestamp(0).getHours(object.v) == 0', '1:2:3', 'strconv.Atoi: parsing "2:3": invalid syntax'],
  ...(['1.5Gi', '2000m', '0.5Ki', '8Ei', '7Ei', '1.0', '1000000000n', '9223372036854775808'] as const).map(
    (text): [string, string, unknown] => ['quantity(object.v).isInteger()', text, false],
  ),
  ...(['0', '1Gi', '1.5k', '1e3', '1.5e1', '-3', '007'] as const).map((text): [string, string, unknown] => [
    'quantity(object.v).isInteger()',
    text,
    true,
  ]),
  ['quantity(object.v).asInteger() == 1', '1.5Gi', 'cannot convert value to integer'],
  ['quantity(object.v).add(quantity("512Mi")).isInteger()', '1.5Gi', false],
  ['quantity(object.v).add(quantity("2k")).asInteger() == 2001', '1', true],
  ['quantity(object.v).sub(1).asInteger() == -1', '0', true],
  ['quantity(object.v).add(1).isInteger()', '9223372036854775807', false],
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
