import { X509Certificate } from 'node:crypto';
import { validateDns1123Label, validateDns1123Subdomain } from '../names.ts';
import { quoteGo } from '../quote.ts';
import { at, records, strings, text } from '../untyped.ts';
import type { Field } from './field.ts';
import type { KindCheck, KindChecks, SubresourceCheck } from './kind.ts';
import { pemBlocks, requestProblem } from './pem.ts';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

const mostNameBytes = 253 + 253 + 63 + 2;

/** `example.com/signer-name`. https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#signers */
function signerName(name: string, field: Field): void {
  const parts = name.split('/');
  const [domain = '', path = ''] = parts;
  if (!name) field.required();
  else if (parts.length !== 2)
    field.invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  if (!name || parts.length !== 2) return;
  if (domain.length > 253) field.tooLong(253);
  const labels = domain.split('.');
  firstBad(labels, validateDns1123Label, domain, field);
  if (labels.length < 2)
    field.invalid(domain, 'should be a domain with at least two segments separated by dots');
  firstBad(path.split('.'), validateDns1123Subdomain, path, field);
  if (name.length > mostNameBytes) field.tooLong(mostNameBytes);
}

function firstBad(labels: string[], rule: (label: string) => string[], shown: string, field: Field): void {
  const bad = labels.find((label) => rule(label).length > 0);
  if (bad === undefined) return;
  for (const message of rule(bad)) field.invalid(shown, `validating label ${quoteGo(bad)}: ${message}`);
}

const onlyTrue = ['Approved', 'Denied', 'Failed'];

function conditions(value: unknown, field: Field): void {
  const seen = new Set<string>();
  for (const [index, condition] of records(value).entries()) {
    const path = field.index(index);
    const [type, status] = [text(condition['type']), text(condition['status'])];
    const allowed = onlyTrue.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (!type) path.child('type').required();
    if (!status) path.child('status').required();
    else if (!allowed.includes(status)) path.child('status').notSupported(status, allowed);
    const other = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (other !== undefined && seen.has(other))
      field.invalid(type, 'Approved and Denied conditions are mutually exclusive');
    if (seen.has(type)) path.child('type').duplicate(type);
    seen.add(type);
  }
}

function certificateProblem(value: unknown): string | undefined {
  if (!text(value)) return undefined;
  const blocks = pemBlocks(Buffer.from(text(value), 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, bytes, hasHeaders } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quoteGo(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    try {
      new X509Certificate(bytes);
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return undefined;
}

function requestedUsages(list: readonly string[], field: Field): void {
  if (list.length === 0) field.required();
  for (const [index, usage] of list.entries()) {
    if (!usages.includes(usage)) field.index(index).notSupported(usage, usages);
    if (list.indexOf(usage) < index) field.index(index).duplicate(usage);
  }
}

/** https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/ */
const signingRequest: KindCheck = ({ object, spec, old }, root) => {
  // An update does not reach the spec.
  if (old) return;
  const field = root.child('spec');
  const request = Buffer.from(text(spec['request']), 'base64').toString('latin1');
  const problem = requestProblem(request);
  if (problem) field.child('request').invalid(spec['request'] ?? null, problem);
  requestedUsages(strings(spec['usages']), field.child('usages'));
  const signer = text(spec['signerName']);
  if (signer === 'kubernetes.io/legacy-unknown')
    field.child('signerName').invalid(signer, 'the legacy signerName is not allowed via this API version');
  else signerName(signer, field.child('signerName'));
  const seconds = spec['expirationSeconds'];
  if (typeof seconds === 'number' && seconds < 600) {
    const rule = 'may not specify a duration less than 600 seconds (10 minutes)';
    field.child('expirationSeconds').invalid(seconds, rule);
  }
  conditions(at(object, 'status', 'conditions'), root.child('status', 'conditions'));
};

/** What `/status` and `/approval` may change of the status. */
function statusChange(settable: { certificate: boolean; approval: boolean }): SubresourceCheck {
  return (object, old, root) => {
    const field = root.child('status');
    const [now, before] = [at(object, 'status'), at(old, 'status')];
    conditions(at(now, 'conditions'), field.child('conditions'));
    for (const type of onlyTrue)
      keptConditions(type, now, before, settable.approval, field.child('conditions'));
    const certificate = at(now, 'certificate');
    if (text(certificate) === text(at(before, 'certificate'))) return;
    const problem = certificateProblem(certificate);
    if (problem) field.child('certificate').invalid('<certificate data>', problem);
    if (!settable.certificate)
      field.child('certificate').forbidden('updates may not set certificate content');
    else if (text(at(before, 'certificate')))
      field.child('certificate').forbidden('updates may not modify existing certificate content');
  };
}

function keptConditions(type: string, now: unknown, before: unknown, mayAdd: boolean, field: Field): void {
  const of = (status: unknown) => records(at(status, 'conditions')).filter((one) => one['type'] === type);
  const [left, right] = [of(now), of(before)];
  if (left.length < right.length)
    field.forbidden(`updates may not remove a condition of type ${quoteGo(type)}`);
  if (mayAdd || type === 'Failed') return;
  if (left.length > right.length) field.forbidden(`updates may not add a condition of type ${quoteGo(type)}`);
}

const kind = 'certificates.k8s.io/CertificateSigningRequest';

export const signingRequestChecks: KindChecks = { [kind]: signingRequest };

export const signingRequestSubresources: Readonly<Record<string, SubresourceCheck>> = {
  [`${kind}/status`]: statusChange({ certificate: true, approval: false }),
  [`${kind}/approval`]: statusChange({ certificate: false, approval: true }),
};
