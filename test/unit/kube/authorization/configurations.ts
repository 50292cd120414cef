/** A webhook that is well said, and files that are not. */

export const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' };
export const rbac = { type: 'RBAC', name: 'rbac' };
export const webhook = {
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  matchConditionSubjectAccessReviewVersion: 'v1',
  failurePolicy: 'NoOpinion',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/there' },
};
export const authorizers = (...all: object[]) => ({ authorizers: all });
export const asked = (more: object) =>
  authorizers({ type: 'Webhook', name: 'policy', webhook: { ...webhook, ...more } });
export const when = (...expressions: string[]) =>
  asked({ matchConditions: expressions.map((expression) => ({ expression })) });

/** In the words of kube-apiserver 1.36.3. */
export const refused: [object, string][] = [
  [{}, 'authorizers: Required value: at least one authorization mode must be defined'],
  [authorizers({ name: 'x' }), 'authorizers[0].type: Required value'],
  [
    authorizers({ type: 'OPA', name: 'opa' }),
    'authorizers[0].type: Unsupported value: "OPA": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
  ],
  [authorizers(rbac, rbac), 'authorizers[1].type: Duplicate value: "RBAC"'],
  [authorizers({ type: 'RBAC' }), 'authorizers[0].name: Required value'],
  [authorizers({ type: 'RBAC', name: 'roles' }), 'expected name rbac for authorizer RBAC instead of roles'],
  [
    authorizers(...asked({}).authorizers, ...asked({}).authorizers),
    'authorizers[1].name: Duplicate value: "policy"',
  ],
  [
    authorizers({ ...asked({}).authorizers[0], name: 'A_b' }),
    `authorizers[0].name: Invalid value: "A_b": authorizer name is invalid: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
  ],
  [
    authorizers({ type: 'Webhook', name: 'x' }),
    'authorizers[0].webhook: Required value: required when type=Webhook',
  ],
  [
    authorizers({ ...rbac, webhook }),
    'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
  ],
  [asked({ timeout: undefined }), 'authorizers[0].timeout: Required value'],
  [asked({ timeout: null }), 'time: invalid duration ""'],
  [asked({ timeout: '0s' }), 'authorizers[0].timeout: Required value'],
  [asked({ timeout: '' }), 'time: invalid duration ""'],
  [asked({ timeout: '31s' }), 'authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s'],
  [asked({ timeout: '-1s' }), 'authorizers[0].timeout: Invalid value: "-1s": must be > 0s and <= 30s'],
  [asked({ timeout: '3 s' }), 'time: unknown unit " s" in duration "3 s"'],
  [asked({ authorizedTTL: '-2m' }), 'authorizers[0].authorizedTTL: Invalid value: "-2m0s": must be > 0s'],
  [asked({ unauthorizedTTL: '-1ms' }), 'authorizers[0].unauthorizedTTL: Invalid value: "-1ms": must be > 0s'],
  [asked({ subjectAccessReviewVersion: '' }), 'authorizers[0].subjectAccessReviewVersion: Required value'],
  [
    asked({ subjectAccessReviewVersion: 'v2' }),
    'authorizers[0].subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
  ],
  [
    asked({ matchConditionSubjectAccessReviewVersion: 'v1beta1' }),
    'authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"',
  ],
  [
    asked({ matchConditionSubjectAccessReviewVersion: '', matchConditions: [{ expression: 'true' }] }),
    'authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
  ],
  [asked({ failurePolicy: '' }), 'authorizers[0].failurePolicy: Required value'],
  [
    asked({ failurePolicy: 'Allow' }),
    'authorizers[0].failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"',
  ],
  [asked({ connectionInfo: {} }), 'authorizers[0].connectionInfo.type: Required value'],
  [
    asked({ connectionInfo: { type: 'Socket' } }),
    'authorizers[0].connectionInfo.type: Unsupported value: {"Type":"Socket","KubeConfigFile":null}: supported values: "InClusterConfig", "KubeConfigFile"',
  ],
  [
    asked({ connectionInfo: { type: 'InClusterConfig', kubeConfigFile: '/there' } }),
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/there": can only be set when type=KubeConfigFile',
  ],
  [
    asked({ connectionInfo: { type: 'KubeConfigFile' } }),
    'authorizers[0].connectionInfo.kubeConfigFile: Required value',
  ],
  [
    asked({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'here' } }),
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "here": must be an absolute path',
  ],
  [
    asked({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/dev' } }),
    'authorizers[0].connectionInfo.kubeConfigFile: Invalid value: "/dev": must be a regular file',
  ],
  [when(' '), 'authorizers[0].matchConditions[0].expression: Required value'],
  [when('true', 'true'), 'authorizers[0].matchConditions[1].expression: Duplicate value: "true"'],
  [
    when(...Array.from({ length: 65 }, (_, i) => `request.user != '${i}'`)),
    'authorizers[0].matchConditions: Too many: 65: must have at most 64 items',
  ],
  [
    when('request.user'),
    'authorizers[0].matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
  ],
  [
    when('request.name == ""'),
    `authorizers[0].matchConditions[0].expression: Invalid value: "request.name == \\"\\"": compilation failed: ERROR: <input>:1:8: undefined field 'name'\n | request.name == ""\n | .......^`,
  ],
  [
    when('object != null'),
    `compilation failed: ERROR: <input>:1:1: undeclared reference to 'object' (in container '')\n | object != null\n | ^`,
  ],
  [{ authorizers: [{}, {}] }, '[authorizers[0].type: Required value, authorizers[1].type: Required value]'],
];
