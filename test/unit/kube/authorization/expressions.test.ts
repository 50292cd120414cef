import { expect, test } from 'vitest';
import { meetsConditions } from '../../../../kube/authorization/expressions.ts';
import type { AccessSpec } from '../../../../kube/authorization/review.ts';

const pods: AccessSpec = {
  user: 'ann',
  groups: ['dev'],
  extra: { k: ['v'] },
  resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'a' },
};
const path: AccessSpec = { user: 'ann', nonResourceAttributes: { path: '/metrics', verb: 'get' } };
const selected: AccessSpec = {
  user: 'ann',
  resourceAttributes: {
    verb: 'list',
    fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
  },
};
const node = "request.resourceAttributes.fieldSelector.requirements.exists(r, r.values == ['n1'])";

test.each<[AccessSpec, string[], boolean]>([
  [pods, [], true],
  [pods, ['true', 'true'], true],
  [pods, ['true', 'false'], false],
  [pods, ['has(request.resourceAttributes)'], true],
  [pods, ['has(request.nonResourceAttributes)'], false],
  [path, ["request.nonResourceAttributes.path.startsWith('/metrics')"], true],
  [path, ['has(request.resourceAttributes)'], false],
  [pods, ["request.resourceAttributes.namespace == 'a' && request.resourceAttributes.name == ''"], true],
  [pods, ["'dev' in request.groups", "request.extra['k'] == ['v']", "request.uid == ''"], true],
  [path, ["'dev' in request.groups"], false],
  [path, ['request.extra.size() == 0'], true],
  [selected, [`has(request.resourceAttributes.fieldSelector) && ${node}`], true],
  [pods, ['has(request.resourceAttributes.fieldSelector)'], false],
  // One that is false settles it, whatever else failed.
  [pods, ["request.extra['none'] == ['v']", 'false'], false],
])('%j: %j: %s', (spec, conditions, holds) => {
  expect(meetsConditions(conditions, spec)).toBe(holds);
});

test('one that fails is told, with those that hold', () => {
  const conditions = ['true', "request.extra['none'] == ['v']"];
  expect(() => meetsConditions(conditions, pods)).toThrow(
    "cel evaluation error: expression 'request.extra['none'] == ['v']' resulted in error: no such key: none",
  );
  const two = [...conditions, 'request.nonResourceAttributes.path == ""'];
  expect(() => meetsConditions(two, pods)).toThrow(
    /^\[cel evaluation error: .*, cel evaluation error: .* resulted in error: no such key: nonResourceAttributes\]$/,
  );
});
