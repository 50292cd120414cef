import type { AdmissionPlugin } from '../plugins.ts';

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
