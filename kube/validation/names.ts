import {
  maxCharactersMessage,
  maxLengthMessage,
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePathSegmentName,
} from '../names.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { canonicalAddressMessages } from './ip.ts';

type NameRule = (name: string) => string[];

const rbacGroup = 'rbac.authorization.k8s.io';

const rules: Record<string, NameRule> = {
  '/Namespace': validateDns1123Label,
  '/ReplicationController': validateLongName,
  '/Service': validateDns1123Label,
  'apiregistration.k8s.io/APIService': validatePathSegmentName,
  'apps/StatefulSet': validateDns1123Label,
  'policy/PodDisruptionBudget': validatePathSegmentName,
  'resource.k8s.io/DeviceClass': validateLongName,
  'networking.k8s.io/IPAddress': canonicalAddressMessages,
  'certificates.k8s.io/CertificateSigningRequest': validatePathSegmentName,
};

/** Where the rule of a name is declared and not written out. */
function validateLongName(name: string): string[] {
  return validateDns1123Subdomain(name).map((message) =>
    message === maxCharactersMessage(253) ? maxLengthMessage(253) : message,
  );
}

/** Which names a kind may have. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
export function nameRule(info: KindInfo): NameRule {
  if (info.group === rbacGroup) return validatePathSegmentName;
  return rules[`${info.group}/${info.kind}`] ?? validateDns1123Subdomain;
}
