import { expect, it } from 'vitest';
import { validateBy } from '../../../apiserver/admission/policy/validate.ts';

const validation = { expression: 'false', reason: 'Invalid', message: 'no', messageExpression: '' };

/** Two that are broken, with how often somebody reads what only an annotation says. */
function asked(annotate?: (key: string, value: string) => void) {
  const read = { times: 0 };
  const binding = {
    name: 'b',
    actions: ['Audit'],
    get policy() {
      read.times++;
      return 'p';
    },
  };
  const policy = {
    name: 'p',
    variables: [],
    matchConditions: [],
    validations: [validation, validation],
    annotations: [{ name: 'a', expression: "'said'" }],
  };
  const question = { kind: {}, resource: {}, requestKind: {}, requestResource: {}, user: { groups: [] } };
  const one = { policy, binding, question, params: undefined };
  const request = { cluster: 'a', warn: () => {}, ...(annotate && { annotate }) };
  return { read, invocation: one as never, request: request as never };
}

it('what an audit event is to say is made where one is written, once', async () => {
  const written: string[] = [];
  const { invocation, request, read } = asked((key, value) => void written.push(`${key}=${value}`));
  await validateBy([invocation], request);
  expect(read.times).toBe(1);
  expect(written).toEqual([
    'validation.policy.admission.k8s.io/validation_failure=' +
      '[{"message":"no","policy":"p","binding":"b","expressionIndex":0,"validationActions":["Audit"]}]',
    'p/a=said',
  ]);
  const none = asked();
  await validateBy([none.invocation], none.request);
  expect(none.read.times).toBe(0);
});
