import { expect, test } from 'vitest';
import { Budget, compileCondition } from '../../../../kube/cel/rule.ts';

const object = { data: { a: 'x' }, list: [1], none: null };

function run(expression: string): unknown {
  const condition = compileCondition(expression);
  if (condition instanceof Error) return condition.message;
  try {
    return condition({ object, oldObject: null }, new Budget());
  } catch (error) {
    return (error as Error).message;
  }
}

/** Each is what kube-apiserver 1.36.3 says: null and text have no members, and it may be asked whether they have. */
test.each([
  ['has(oldObject.metadata)', false],
  ['has(object.data.a.b)', false],
  ['oldObject.?metadata.?name.orValue("none") == "none"', true],
  ['object.data.a.?b.orValue("d") == "d"', true],
  ['object.data.a[?"q"].hasValue()', false],
  ['oldObject.metadata.name == "x"', 'no such key: metadata'],
  ['object.data.a.b == 1', 'no such key: b'],
  ['object.data.a[0] == 1', 'no such key: 0'],
  ['object.list["a"] == 1', "unsupported index type 'string' in list"],
  ['object.list[1.5] == 1', 'unsupported index value 1.5 in list'],
  ['has(object.list.a)', "unsupported index type 'string' in list"],
  ['object.data.a.all(k, k == "x")', "got 'types.String', expected iterable type"],
  ['object.none.all(k, k == "x")', "got 'types.Null', expected iterable type"],
  ['object.data > 1', 'no such overload: _>_'],
  ['object.data.a > 1', 'no such overload'],
  ['object.data + 1 == 1', 'no such overload: _+_'],
  ['object.data.a - 1 == 1', 'no such overload'],
  ['object.none < dyn(1)', 'no such overload: _<_'],
  ['-object.data == 1', 'no such overload: -_'],
  ['dyn(1.5) % dyn(1) == 1', 'no such overload: _%_'],
  ['string(object.data) == ""', 'no such overload: string(map)'],
  ['object.data.split(",") == []', 'no such overload: split(map, string)'],
  ['sets.contains(dyn(1), [1])', 'no such overload: sets.contains(int, list)'],
  ['object.data.isGreaterThan(quantity("1"))', 'no such overload: isGreaterThan(map, kubernetes.Quantity)'],
  ['object.data.startsWith("x")', 'no such overload'],
  ['"x" in oldObject', 'no such overload'],
  ['size(oldObject) == 1', 'no such overload: size'],
  ['[dyn(1), dyn("a")].sum() == 1', 'no such overload'],
])('%s: %s', (expression, said) => expect(run(expression)).toBe(said));
