import { sameJson } from '../../kube/deep.ts';
import type { KubeObject } from '../../kube/object.ts';
import { quoteGo } from '../../kube/quote.ts';
import { forbidden } from '../../kube/status.ts';
import { at, textAt } from '../../kube/untyped.ts';
import { organizationsOf } from '../../kube/validation/pem.ts';
import { mastersGroup } from '../authz/masters.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';

const group = 'certificates.k8s.io';
const forUsers = 'kubernetes.io/kube-apiserver-client';

/**
 * Who approves a request, or denies it, needs the verb `approve` on its signer, whatever else they may change of it.
 * https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#authorization
 */
export const certificateApprovalAdmission: AdmissionPlugin = {
  name: 'CertificateApproval',
  validate: (request) => (isUpdate(request, 'approval') ? requireSigner(request, 'approve') : undefined),
};

/** Who gives it a certificate, or says that it failed, needs the verb `sign`. */
export const certificateSigningAdmission: AdmissionPlugin = {
  name: 'CertificateSigning',
  validate(request) {
    if (!isUpdate(request, 'status')) return;
    const { object, old } = request;
    const said = (of: KubeObject | undefined) => [
      textAt(of, 'status', 'certificate') ?? '',
      at(of, 'status', 'conditions') ?? [],
    ];
    return sameJson(said(object), said(old)) ? undefined : requireSigner(request, 'sign');
  },
};

/** Nobody asks for a certificate of the administrators' group. */
export const certificateSubjectAdmission: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  validate(request) {
    const { operation, subresource, object } = request;
    if (operation !== 'CREATE' || subresource !== '' || object === undefined || !isRequest(request)) return;
    if (textAt(object, 'spec', 'signerName') !== forUsers) return;
    const pem = Buffer.from(textAt(object, 'spec', 'request') ?? '', 'base64').toString('latin1');
    if (organizationsOf(pem).includes(mastersGroup))
      throw refused(request, `use of ${forUsers} signer with ${mastersGroup} group is not allowed`);
  },
};

function isRequest({ stored: { info } }: AdmissionRequest): boolean {
  return info.group === group && info.resource === 'certificatesigningrequests';
}

function isUpdate(request: AdmissionRequest, subresource: string): boolean {
  return request.operation === 'UPDATE' && request.subresource === subresource && isRequest(request);
}

/** Of the request as it was: the signer may not change on the way. All signers of a domain are `example.com/*`. */
async function requireSigner(request: AdmissionRequest, verb: 'approve' | 'sign'): Promise<void> {
  const { user, cluster, authorize, old } = request;
  const signer = textAt(old, 'spec', 'signerName') ?? '';
  const asked = {
    user,
    cluster,
    verb,
    group,
    version: '*',
    resource: 'signers',
    subresource: '',
    namespace: '',
  };
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    if ((await authorize({ ...asked, name })).allowed) return;
  }
  throw refused(request, `user not permitted to ${verb} requests with signerName ${quoteGo(signer)}`);
}

function refused({ stored, name }: AdmissionRequest, why: string): Error {
  return forbidden(stored.info, name, why);
}
