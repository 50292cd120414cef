import {
  maxCharactersMessage,
  maxLengthMessage,
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePathSegmentName,
} from '../names.ts';
import type { KubeObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { record, text } from '../untyped.ts';
import { canonicalAddressMessages } from './ip.ts';

type NameRule = (name: string) => string[];

const rbacGroup = 'rbac.authorization.k8s.io';

const rules: Record<string, NameRule> = {
  '/Namespace': validateDns1123Label,
  '/ReplicationController': validateLongName,
  '/Service': validateDns1123Label,
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

/** An APIService is named for what it serves. */
function versionAndGroup({ spec }: KubeObject): NameRule {
  const { version, group } = record(spec);
  const expected = `${text(version)}.${text(group)}`;
  return (name) => {
    const bad = validatePathSegmentName(name);
    if (bad.length > 0 || name === expected) return bad;
    return [`must be \`spec.version+"."+spec.group\`: ${quoteGo(expected)}`];
  };
}

/** Their generateName is not looked at: it is the name that it makes which counts. */
export function checksGenerateName(info: KindInfo): boolean {
  return !['/ReplicationController', 'resource.k8s.io/DeviceClass'].includes(`${info.group}/${info.kind}`);
}

/** Which names a kind may have. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
export function nameRule(info: KindInfo, object: KubeObject): NameRule {
  if (info.group === 'apiregistration.k8s.io' && info.kind === 'APIService') return versionAndGroup(object);
  if (info.group === rbacGroup) return validatePathSegmentName;
  return rules[`${info.group}/${info.kind}`] ?? validateDns1123Subdomain;
}
