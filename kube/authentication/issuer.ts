import { X509Certificate } from 'node:crypto';
import { withoutLast } from '../trim.ts';
import type { Field } from '../validation/field.ts';
import type { JwtAuthenticator } from './types.ts';

type Issuer = Partial<JwtAuthenticator['issuer']>;

/** `taken`: issuers that are the server's own. */
export function checkIssuer(issuer: Issuer, field: Field, taken: readonly string[]): void {
  const { url = '', discoveryURL = '', certificateAuthority = '', egressSelectorType } = issuer;
  if (url === '') field.child('url').required();
  else {
    if (taken.includes(url)) {
      const list = [...taken].sort().join(' ');
      field.child('url').invalid(url, `URL must not overlap with disallowed issuers: [${list}]`);
    }
    checkUrl(url, field.child('url'));
  }
  if (discoveryURL !== '') {
    const path = field.child('discoveryURL');
    if (url !== '' && withoutLast(url, '/') === withoutLast(discoveryURL, '/'))
      path.invalid(discoveryURL, 'discoveryURL must be different from URL');
    checkUrl(discoveryURL, path);
  }
  checkAudiences(issuer, field);
  if (certificateAuthority !== '' && !isAuthority(certificateAuthority)) {
    const why = 'data does not contain any valid RSA or ECDSA certificates';
    field.child('certificateAuthority').invalid('<omitted>', why);
  }
  if (egressSelectorType)
    field.child('egressSelectorType').invalid(egressSelectorType, 'there is no egress selector here');
}

function checkUrl(given: string, field: Field): void {
  if (!URL.canParse(given)) {
    field.invalid(given, 'URL scheme must be https');
    return;
  }
  const url = new URL(given);
  if (url.protocol !== 'https:') field.invalid(given, 'URL scheme must be https');
  if (url.username !== '' || url.password !== '')
    field.invalid(given, 'URL must not contain a username or password');
  if (url.search !== '') field.invalid(given, 'URL must not contain a query');
  if (url.hash !== '') field.invalid(given, 'URL must not contain a fragment');
}

function checkAudiences({ audiences, audienceMatchPolicy: policy }: Issuer, field: Field): void {
  const path = field.child('audiences');
  const list = audiences ?? [];
  if (list.length === 0) path.required(`at least one ${path.path} is required`);
  for (const [index, audience] of list.entries()) {
    if (audience === '') path.index(index).required();
    if (list.indexOf(audience) < index) path.index(index).duplicate(audience);
  }
  const isAny = policy === 'MatchAny';
  if (list.length > 1 && !isAny) {
    const rule = 'audienceMatchPolicy must be MatchAny for multiple audiences';
    field.child('audienceMatchPolicy').invalid(policy ?? '', rule);
  }
  if (list.length === 1 && policy && !isAny) {
    const rule = 'audienceMatchPolicy must be empty or MatchAny for single audience';
    field.child('audienceMatchPolicy').invalid(policy, rule);
  }
}

function isAuthority(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.length > 0 && blocks.every(isCertificate);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
