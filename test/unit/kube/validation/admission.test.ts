import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { named } from '../kinds.ts';
import { causesOf } from './refused.ts';

const version = 'admissionregistration.k8s.io/v1';
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const matchConstraints = { resourceRules: [rule] };
const policy = (spec: object) =>
  named(version, 'ValidatingAdmissionPolicy', {
    spec: { matchConstraints, validations: [{ expression: 'object.a == 1' }], ...spec },
  });
const mutating = (spec: object) =>
  named(version, 'MutatingAdmissionPolicy', {
    spec: { matchConstraints, reinvocationPolicy: 'Never', ...spec },
  });
const hook = (rest: object) =>
  named(version, 'ValidatingWebhookConfiguration', {
    webhooks: [
      {
        name: 'a.example.com',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: 'https://example.com' },
        ...rest,
      },
    ],
  });
const withResources = (resources: string[]) => hook({ rules: [{ ...rule, resources }] });
const undeclared = (name: string) =>
  `Invalid value: "${name}": compilation failed: ERROR: <input>:1:1: undeclared reference to '${name}' (in container '')\n | ${name}\n | ^`;

describe('admissionregistration.k8s.io', () => {
  it.each<[string, KubeObject, string[]]>([
    [
      'an expression that does not compile',
      policy({ validations: [{ expression: 'other' }] }),
      [`spec.validations[0].expression: ${undeclared('other')}`],
    ],
    [
      'an expression of another type',
      policy({ validations: [{ expression: '"a"' }] }),
      ['spec.validations[0].expression: Invalid value: "\\"a\\"": must evaluate to bool but got string'],
    ],
    [
      'parameters without a kind of them',
      policy({ validations: [{ expression: 'params.a == 1' }] }),
      [
        "spec.validations[0].expression: Invalid value: \"params.a == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.a == 1\n | ^",
      ],
    ],
    [
      'the authorizer in a message',
      policy({ validations: [{ expression: 'true', messageExpression: 'authorizer' }] }),
      [`spec.validations[0].messageExpression: ${undeclared('authorizer')}`],
    ],
    [
      'a variable with a reserved name',
      policy({ variables: [{ name: 'in', expression: '1' }] }),
      ['spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier'],
    ],
    [
      'conditions of one name',
      hook({
        matchConditions: [
          { name: 'a', expression: 'true' },
          { name: 'a', expression: '' },
        ],
      }),
      [
        'webhooks[0].matchConditions[1].expression: Required value',
        'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
      ],
    ],
    [
      'an address without its scheme',
      hook({ clientConfig: { url: 'http://u@example.com?a=1#b' } }),
      [
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "b": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "a=1": query parameters are not permitted in the URL',
      ],
    ],
    [
      'a subresource beside all of them',
      withResources(['pods/*', 'pods/status']),
      [
        'webhooks[0].rules[0].resources[1]: Invalid value: "pods/status": if \'pods/*\' is present, must not specify pods/status',
      ],
    ],
    [
      'a resource beside all of them',
      withResources(['*', 'pods']),
      [
        'webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources',
      ],
    ],
    [
      'a policy that mutates nothing',
      mutating({}),
      ['spec.mutations: Required value: mutations must contain at least one item'],
    ],
    [
      'a patch of another type than it says',
      mutating({ mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } }] }),
      [
        'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
        'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      ],
    ],
    [
      'a mutation of what is deleted',
      mutating({
        matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] },
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
      }),
      [
        'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      ],
    ],
  ])('refuses %s', (_what, object, expected) => {
    expect(causesOf(object)).toEqual(expected);
  });

  it('lets conditions be that were there before', () => {
    const before = hook({ matchConditions: [{ name: 'a', expression: 'other' }] });
    const after = hook({ matchConditions: [{ name: 'a', expression: 'other' }], timeoutSeconds: 3 });
    expect(causesOf(before)).toHaveLength(1);
    expect(causesOf(after, before)).toEqual([]);
  });
});
