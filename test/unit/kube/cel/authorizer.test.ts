import { expect, test } from 'vitest';
import {
  type AccessQuestion,
  Budget,
  CelAuthorizer,
  CostExceeded,
  compilePolicyExpression,
  Unanswered,
} from '../../../../kube/cel/rule.ts';

const resource = {
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
};

function run(
  expression: string,
  ask: (question: AccessQuestion) => boolean = () => true,
  budget = new Budget(),
) {
  const asked: AccessQuestion[] = [];
  const authorizer = new CelAuthorizer((question) => {
    asked.push(question);
    const allowed = ask(question);
    return { allowed, reason: allowed ? 'so it is' : '', error: allowed ? '' : 'who knows' };
  });
  const compiled = compilePolicyExpression(expression);
  if (compiled instanceof Error) throw compiled;
  const none = { object: null, oldObject: null, request: null, params: null, namespaceObject: null };
  const about = authorizer.about({ group: 'apps', resource: 'deployments', namespace: 'n', name: 'web' });
  const variables = { ...none, variables: {}, authorizer, 'authorizer.requestResource': about };
  return { value: compiled(variables, budget), asked };
}

const questions: [string, AccessQuestion][] = [
  ["authorizer.path('/healthz').check('get')", { path: '/healthz', verb: 'get' }],
  ["authorizer.group('').resource('pods').check('list')", { resource, verb: 'list' }],
  [
    "authorizer.group('').resource('pods').subresource('log').namespace('n').name('p').check('get')",
    { resource: { ...resource, subresource: 'log', namespace: 'n', name: 'p' }, verb: 'get' },
  ],
  [
    "authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list')",
    { resource: { ...resource, fieldSelector: 'a=b', labelSelector: 'c' }, verb: 'list' },
  ],
  [
    "authorizer.serviceAccount('n', 'a').group('').resource('pods').check('list')",
    { account: { namespace: 'n', name: 'a' }, resource, verb: 'list' },
  ],
  [
    "authorizer.requestResource.check('special')",
    {
      resource: { ...resource, group: 'apps', resource: 'deployments', namespace: 'n', name: 'web' },
      verb: 'special',
    },
  ],
];

test.each(questions)('%s', (expression, question) => {
  const { value, asked } = run(`${expression}.allowed()`);
  expect([value, asked]).toEqual([true, [question]]);
  expect(run(`${expression}.allowed()`, () => false).value).toBe(false);
});

test.each<[string, boolean, unknown]>([
  ['reason', true, 'so it is'],
  ['errored', true, false],
  ['error', true, ''],
  ['errored', false, true],
  ['error', false, 'who knows'],
])('%s() of a decision that is %s: %s', (member, allowed, said) => {
  expect(run(`authorizer.path('/x').check('get').${member}()`, () => allowed).value).toBe(said);
});

test.each([
  ["authorizer.path(' ')", 'path must not be empty'],
  ["authorizer.group('').resource('')", 'resource must not be empty'],
  ["authorizer.serviceAccount('n', 'A')", 'Invalid service account name'],
  ["authorizer.serviceAccount('a.b', 'a')", 'Invalid service account namespace'],
])('%s fails', (expression, message) => {
  expect(() => run(expression)).toThrow(message);
});

test('an expression may ask twice, not three times', () => {
  const ask = (path: string) => `authorizer.path('/${path}').check('get').allowed()`;
  expect(run(`${ask('a')} && ${ask('b')}`).asked).toHaveLength(2);
  expect(() => run(`${ask('a')} && ${ask('b')} && ${ask('c')}`)).toThrow(CostExceeded);
});

test('an answer that is not here yet ends the run, whatever the expression makes of failures, and costs nothing', () => {
  const budget = new Budget();
  const late = () => {
    throw new Unanswered(Promise.resolve());
  };
  const expression = "authorizer.path('/a').check('get').allowed() || true";
  expect(() => budget.within((share) => run(expression, late, share))).toThrow(Unanswered);
  expect(budget.spent).toBe(0);
  expect(budget.within((share) => run(expression, () => false, share).value)).toBe(true);
  expect(budget.spent).toBeGreaterThan(350_000);
});
