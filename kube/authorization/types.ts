/** https://kubernetes.io/docs/reference/access-authn-authz/authorization/#using-configuration-file-for-authorization */
export interface AuthorizationConfiguration {
  authorizers: readonly AuthorizerConfiguration[];
}

export const authorizerTypes = ['AlwaysAllow', 'AlwaysDeny', 'RBAC', 'Webhook'] as const;
type AuthorizerType = (typeof authorizerTypes)[number];

export type AuthorizerConfiguration =
  | { type: Exclude<AuthorizerType, 'Webhook'>; name: string }
  | { type: 'Webhook'; name: string; webhook: WebhookConfiguration };

/** As the file has it, with defaults. Times are in milliseconds. */
export interface WebhookConfiguration {
  timeoutMs: number;
  /** For how long an answer counts; 0: it is asked again for each request. */
  rememberMs: { allowed: number; others: number };
  subjectAccessReviewVersion: 'v1' | 'v1beta1';
  failurePolicy: 'NoOpinion' | 'Deny';
  kubeConfigFile: string;
  /** Each in CEL, of `request`, the spec of a SubjectAccessReview of v1. */
  matchConditions: readonly string[];
}
