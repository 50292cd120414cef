import { describe, expect, it } from 'vitest';
import { judge } from '../../../../kube/cel/compile.ts';
import { policyDeclarations } from '../../../../kube/cel/typed/messages.ts';
import { declaredType } from '../../../../kube/cel/typed/types.ts';

const declarations = policyDeclarations({ authorizer: true, patches: true });

const operands =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const told: [string, string][] = [
  ['', `ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting ${operands}`],
  [
    'Bad Value!_/',
    "ERROR: <input>:1:5: Syntax error: mismatched input 'Value' expecting <EOF>\n | Bad Value!_/\n | ....^",
  ],
  ['a b', "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n | a b\n | ..^"],
  [
    '1 +',
    `ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting ${operands}\n | 1 +\n | ...^`,
  ],
  [
    'object.',
    "ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | object.\n | .......^",
  ],
  ['(object', "ERROR: <input>:1:8: Syntax error: missing ')' at '<EOF>'\n | (object\n | .......^"],
  [
    '[1,2',
    "ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting {']', ','}\n | [1,2\n | ....^",
  ],
  [
    'object.a = 1',
    "ERROR: <input>:1:10: Syntax error: token recognition error at: '= '\n | object.a = 1\n | .........^\n" +
      "ERROR: <input>:1:12: Syntax error: extraneous input '1' expecting <EOF>\n | object.a = 1\n | ...........^",
  ],
  ['other', "ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other\n | ^"],
  [
    'other == foo',
    "ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other == foo\n | ^\n" +
      "ERROR: <input>:1:10: undeclared reference to 'foo' (in container '')\n | other == foo\n | .........^",
  ],
  [
    'object.all(x, x > 0 && y)',
    "ERROR: <input>:1:24: undeclared reference to 'y' (in container '')\n | object.all(x, x > 0 && y)\n | .......................^",
  ],
  [
    'object.x.foo(1)',
    "ERROR: <input>:1:13: undeclared reference to 'foo' (in container '')\n | object.x.foo(1)\n | ............^",
  ],
  [
    '1 + "a"',
    "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + \"a\"\n | ..^",
  ],
];

describe('judge', () => {
  it.each(told)('tells of %j what the reference implementation tells', (expression, problem) => {
    expect(judge(expression, declarations)).toMatchObject({ problem });
  });

  it.each([
    'object.spec.replicas > 1',
    'object.items.all(i, v, v.size() > i)',
    'has(object.a) && object.a in ["b"]',
    'object.?a.orValue("b") == "c"',
    'Object{spec: Object.spec{replicas: 1}}',
    'authorizer.group("apps").resource("deployments").check("create").allowed()',
    'semver("1.2.3").isGreaterThan(semver("1.0.0"))',
    'sets.contains(object.a, [1])',
    'size(object.a) == 0 || format.dns1123Label().validate(object.a).hasValue()',
  ])('has nothing to say about %s', (expression) => {
    expect(judge(expression, declarations).problem).toBeUndefined();
  });

  it('refuses what only a laxer parser can read', () => {
    const chain = `optional.of(1)${'.optMap(x, x + 1)'.repeat(14)}`;
    expect(judge(chain, declarations).problem).toContain('Syntax error');
  });

  it.each([
    ['object.a == 1', 'bool'],
    ['"a" + "b"', 'string'],
    ['object.a', 'dyn'],
    ['request.userInfo.groups', 'list(string)'],
    ['Object{spec: Object.spec{replicas: 1}}', 'Object'],
    ['[JSONPatch{op: "add", path: "/a", value: 1}]', 'list(JSONPatch)'],
    ['timestamp("2026-01-01T00:00:00Z")', 'google.protobuf.Timestamp'],
    ['null', 'null_type'],
  ])('knows the type of %s', (expression, type) => {
    const { checked } = judge(expression, declarations);
    expect(checked && declaredType(checked.type)).toBe(type);
  });
});
