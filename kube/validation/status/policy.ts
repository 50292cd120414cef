import { at, records, text } from '../../untyped.ts';
import type { SubresourceCheck } from '../kind.ts';
import { conditions } from './conditions.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/validating-admission-policy-v1/#ValidatingAdmissionPolicyStatus */
const policy: SubresourceCheck = (object, _old, root) => {
  const field = root.child('status');
  const warnings = records(at(object, 'status', 'typeChecking', 'expressionWarnings'));
  for (const [i, { warning, fieldRef }] of warnings.entries()) {
    const path = field.child('typeChecking', 'expressionWarnings').index(i);
    if (text(warning) === '') path.child('warning').required();
    if (text(fieldRef).trim() === '') path.child('fieldRef').required();
  }
  conditions(at(object, 'status', 'conditions'), field.child('conditions'));
};

export const policyStatuses: Readonly<Record<string, SubresourceCheck>> = {
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy/status': policy,
};
