import type { KindChecks } from '../kind.ts';
import { binding } from './binding.ts';
import { mutatingPolicy } from './mutating.ts';
import { validatingPolicy } from './policy.ts';
import { webhooks } from './webhook.ts';

const group = 'admissionregistration.k8s.io';

export const admissionChecks: KindChecks = {
  [`${group}/MutatingWebhookConfiguration`]: webhooks(true),
  [`${group}/ValidatingWebhookConfiguration`]: webhooks(false),
  [`${group}/ValidatingAdmissionPolicy`]: validatingPolicy,
  [`${group}/ValidatingAdmissionPolicyBinding`]: binding(true),
  [`${group}/MutatingAdmissionPolicy`]: mutatingPolicy,
  [`${group}/MutatingAdmissionPolicyBinding`]: binding(false),
};
