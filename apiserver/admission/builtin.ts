import type { AdmissionPlugin } from '../plugins.ts';
import {
  certificateApprovalAdmission,
  certificateSigningAdmission,
  certificateSubjectAdmission,
} from './certificates.ts';
import { endingDefinitionAdmission } from './ending-definition.ts';
import { limitRangerAdmission } from './limit-ranger.ts';
import { podSecurityAdmission } from './pod-security.ts';
import { priorityAdmission } from './priority.ts';
import { protectionAdmission } from './protection.ts';
import { runtimeClassAdmission } from './runtime-class.ts';
import { serviceAccountAdmission } from './service-account.ts';
import { defaultClassAdmission } from './storage-class.ts';
import { nodeTaintAdmission, tolerationAdmission } from './taints.ts';

/** In kube-apiserver's order, before the webhooks. https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/ */
export const builtinAdmission: readonly AdmissionPlugin[] = [
  endingDefinitionAdmission,
  limitRangerAdmission,
  serviceAccountAdmission,
  nodeTaintAdmission,
  podSecurityAdmission,
  priorityAdmission,
  tolerationAdmission,
  protectionAdmission,
  defaultClassAdmission,
  runtimeClassAdmission,
  certificateApprovalAdmission,
  certificateSigningAdmission,
  certificateSubjectAdmission,
];
