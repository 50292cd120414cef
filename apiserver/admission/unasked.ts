import { isRecord, listAt, strings } from '../../kube/untyped.ts';
import type { AdmissionPlugin } from '../plugins.ts';

/** What a policy or webhook is not asked about, though it means it. */
export const unaskedPartsAdmission: AdmissionPlugin = {
  name: 'UnaskedParts',
  validate(request) {
    const { stored, object, subresource } = request;
    if (stored.info.group !== 'admissionregistration.k8s.io' || !object || subresource !== '') return;
    const isPolicy = stored.info.resource.endsWith('admissionpolicies');
    const rules = isPolicy
      ? listAt(object, 'spec', 'matchConstraints', 'resourceRules')
      : listAt(object, 'webhooks').flatMap((webhook) => listAt(webhook, 'rules'));
    if (rules.some(isAboutNewPods))
      request.warn(
        'nobody here is asked about the pods that workloads make: those are made on physical clusters; rules about workloads are asked',
      );
  },
};

function isAboutNewPods(rule: unknown): boolean {
  if (!isRecord(rule)) return false;
  const has = (field: string, ...words: string[]) => strings(rule[field]).some((one) => words.includes(one));
  return (
    has('apiGroups', '', '*') && has('resources', 'pods', '*', '*/*') && has('operations', 'CREATE', '*')
  );
}
