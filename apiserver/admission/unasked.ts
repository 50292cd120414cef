import type { AdmissionPlugin } from '../plugins.ts';

const unasked: Readonly<Record<string, string>> = {
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

/** Of a policy that is asked, the parts that are not. */
export const unaskedPartsAdmission: AdmissionPlugin = {
  name: 'UnaskedParts',
  validate(request) {
    const { stored, object, subresource } = request;
    if (stored.info.group !== 'admissionregistration.k8s.io' || !object || subresource !== '') return;
    if (!stored.info.resource.endsWith('admissionpolicies')) return;
    if (/\bauthorizer\b/.test(JSON.stringify(object.spec)))
      request.warn('authorizer is not known to expressions here: what asks it fails');
  },
};
