import { expect, test } from 'vitest';
import { Budget, compileCondition } from '../../../../kube/cel/rule.ts';

function run(expression: string): unknown {
  const condition = compileCondition(expression);
  if (condition instanceof Error) return condition.message;
  try {
    return condition({ object: {} }, new Budget());
  } catch (error) {
    return (error as Error).message;
  }
}

/** Each is what kube-apiserver 1.36.3 says that it is. */
test.each([
  'string(100000000.0) == "1e+08"',
  'string(1234567.0) == "1.234567e+06"',
  'string(123456.0) == "123456"',
  'string(999999.5) == "999999.5"',
  'string(-1234567.0) == "-1.234567e+06"',
  'string(0.0001) == "0.0001"',
  'string(0.00001) == "1e-05"',
  'string(-0.0) == "-0"',
  '"%s".format([1.1e20]) == "1.1e+20"',
  '"%.0f".format([0.5]) == "0"',
  '"%.0f".format([1.5]) == "2"',
  '"%.0f".format([2.5]) == "2"',
  '"%.0f".format([-0.5]) == "-0"',
  '"%.1f".format([0.25]) == "0.2"',
  '"%.2f".format([2.675]) == "2.67"',
  '!isIP("::ffff:1.2.3.4")',
  '!isIP("fe80::1%eth0")',
  'isIP("2001:DB8::1")',
  'string(ip("2001:DB8::1")) == "2001:db8::1"',
  'ip("2001:db8::1") == ip("2001:DB8:0::1")',
  'ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8::1") && !ip.isCanonical("2001:db8:0:0::1")',
  '!isCIDR("::ffff:1.2.3.4/96") && !isCIDR("1.2.3.4/024") && !isCIDR("01.2.3.4/24") && isCIDR("1.2.3.4/24")',
  'string(cidr("2001:DB8::1/64")) == "2001:db8::1/64"',
  'cidr("2001:DB8::/32") == cidr("2001:db8::/32")',
  'string(cidr("2001:DB8::1/64").ip()) == "2001:db8::1"',
  'b"\\xff\\x00".size() == 2 && b"\\377".size() == 1',
  'b"ÿ".size() == 2',
  'b"\\xff" == b"\\377"',
  'string(b"\\xc3\\xa4") == "ä"',
  '"%x".format([b"\\xff"]) == "ff"',
  '"hello".replace("", "_") == "_h_e_l_l_o_"',
  '"hello".replace("", "_", 2) == "_h_ello"',
  '"".replace("", "b") == "b"',
  '"äb".replace("", "_", -1) == "_ä_b_"',
  '"aaa".replace("", "b", 0) == "aaa"',
  '"a1b22".findAll("[0-9]*") == ["", "1", "22"]',
  '"abxxc".findAll("x*") == ["", "", "xx", ""]',
  '"abc".findAll("x*") == ["", "", "", ""]',
  '!isSemver("1.2.3-01") && !isSemver("1.2.3-a.01") && isSemver("1.2.3-0") && isSemver("1.2.3-00a") && isSemver("1.2.3+01")',
  `format.uri().validate("a b").value() == ['parse "a b": invalid URI for request']`,
  `format.uri().validate("").value() == ['parse "": empty url']`,
])('%s', (expression) => expect(run(expression)).toBe(true));

test.each([
  ['ip("::ffff:1.2.3.4") == ip("1.2.3.4")', 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
  ['ip("fe80::1%eth0") == ip("fe80::1")', 'IP address "fe80::1%eth0" with zone value is not allowed'],
])('%s is refused', (expression, why) => expect(run(expression)).toContain(why));
