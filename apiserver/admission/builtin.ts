import type { AdmissionPlugin } from '../options.ts';

/** In the order in which they run, before the webhooks. https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/ */
export const builtinAdmission: readonly AdmissionPlugin[] = [];
