import type { AdmissionPlugin } from '../plugins.ts';

const unasked: Readonly<Record<string, string>> = {
  'admissionregistration.k8s.io/validatingadmissionpolicies': 'nothing is refused by it',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': 'nothing is refused by it',
  'admissionregistration.k8s.io/mutatingadmissionpolicies': 'nothing is changed by it',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': 'nothing is changed by it',
  'node.k8s.io/runtimeclasses':
    'no pod gets an overhead or a place by it, and no physical cluster hears of it',
};

/** Who writes what is stored and never asked is told so each time: they count on it. */
export const unaskedAdmission: AdmissionPlugin = {
  name: 'Unasked',
  validate(request) {
    const { group, resource, kind } = request.stored.info;
    const what = group === '' ? undefined : unasked[`${group}/${resource}`];
    if (what === undefined || !request.object || request.subresource !== '') return;
    request.warn(`a ${kind} is stored here and not asked: ${what}`);
  },
};
