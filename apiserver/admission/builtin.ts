import type { AdmissionPlugin } from '../options.ts';
import { limitRangerAdmission } from './limit-ranger.ts';
import { priorityAdmission } from './priority.ts';
import { serviceAccountAdmission } from './service-account.ts';
import { defaultClassAdmission } from './storage-class.ts';

/** In kube-apiserver's order, before the webhooks. https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/ */
export const builtinAdmission: readonly AdmissionPlugin[] = [
  limitRangerAdmission,
  serviceAccountAdmission,
  priorityAdmission,
  defaultClassAdmission,
];
