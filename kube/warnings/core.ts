import { createPrivateKey, X509Certificate } from 'node:crypto';
import { compareQuantities } from '../defaults/quantity.ts';
import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { at, isRecord, record, records, strings, text } from '../untyped.ts';
import { addressWarnings, rangeWarnings } from './ip.ts';
import { nodeTermWarnings } from './node-labels.ts';
import { claimSpecWarnings } from './quantity.ts';

function serviceAddresses(spec: JsonObject, headless: boolean): string[] {
  const external = strings(spec['externalIPs']);
  const named = spec['type'] === 'ExternalName';
  const out: string[] = [];
  if (!named && !headless) {
    for (const [i, address] of strings(spec['clusterIPs']).entries())
      out.push(...addressWarnings(address, `spec.clusterIPs[${i}]`));
  }
  if (headless) {
    if (text(spec['loadBalancerIP'])) out.push('spec.loadBalancerIP is ignored for headless services');
    if (external.length > 0) out.push('spec.externalIPs is ignored for headless services');
    if (spec['sessionAffinity'] !== 'None') out.push('spec.SessionAffinity is ignored for headless services');
  }
  for (const [i, address] of external.entries())
    out.push(...addressWarnings(address, `spec.externalIPs[${i}]`));
  if (external.length > 0 && !headless && !named)
    out.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  return out;
}

export function serviceWarnings(object: JsonObject): string[] {
  const spec = record(object['spec']);
  const named = spec['type'] === 'ExternalName';
  const hints = 'service.kubernetes.io/topology-aware-hints';
  const out: string[] = [];
  if (at(object, 'metadata', 'annotations', hints) !== undefined)
    out.push(`annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`);
  out.push(...serviceAddresses(spec, spec['type'] === 'ClusterIP' && spec['clusterIP'] === 'None'));
  if (text(spec['loadBalancerIP']))
    out.push(...addressWarnings(text(spec['loadBalancerIP']), 'spec.loadBalancerIP'));
  for (const [i, range] of strings(spec['loadBalancerSourceRanges']).entries())
    out.push(...rangeWarnings(range, `spec.loadBalancerSourceRanges[${i}]`));
  if (named && strings(spec['externalIPs']).length > 0)
    out.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!named && text(spec['externalName']))
    out.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec['trafficDistribution'] === 'PreferClose')
    out.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return out;
}

const volumePlugins: Readonly<Record<string, string>> = {
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};
const betaClass = 'volume.beta.kubernetes.io/storage-class';
const oldAnnotations: Readonly<Record<string, string>> = {
  [betaClass]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
};

export function persistentVolumeWarnings(object: JsonObject): string[] {
  const spec = record(object['spec']);
  const out: string[] = [];
  for (const [key, message] of Object.entries(oldAnnotations)) {
    if (at(object, 'metadata', 'annotations', key) !== undefined)
      out.push(`metadata.annotations[${key}]: ${message}`);
  }
  if (spec['persistentVolumeReclaimPolicy'] === 'Recycle') {
    const rule =
      'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
    out.push(`spec.persistentVolumeReclaimPolicy: ${rule}`);
  }
  for (const [i, term] of records(at(spec, 'nodeAffinity', 'required', 'nodeSelectorTerms')).entries())
    out.push(...nodeTermWarnings(term, false, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`));
  for (const [name, message] of Object.entries(volumePlugins)) {
    if (isRecord(spec[name])) out.push(`spec.${name === 'storageos' ? 'storageOS' : name}: ${message}`);
  }
  return out;
}

export function claimWarnings(object: JsonObject): string[] {
  const annotated = at(object, 'metadata', 'annotations', betaClass) !== undefined;
  const out = annotated ? [`metadata.annotations[${betaClass}]: ${oldAnnotations[betaClass]}`] : [];
  return [...out, ...claimSpecWarnings(object['spec'], 'spec')];
}

export function nodeWarnings(object: JsonObject): string[] {
  const spec = record(object['spec']);
  const out: string[] = [];
  if (isRecord(spec['configSource'])) out.push('spec.configSource: the feature is removed');
  if (text(spec['externalID']))
    out.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  for (const [i, range] of strings(spec['podCIDRs']).entries())
    out.push(...rangeWarnings(range, `spec.podCIDRs[${i}]`));
  return out;
}

const quotaNames = ['cpu', 'memory', 'storage', 'ephemeral-storage'];

export function quotaWarnings(object: JsonObject): string[] {
  const hard = record(at(object, 'spec', 'hard'));
  return quotaNames.flatMap((name) => {
    const plain = hard[`requests.${name}`] === undefined && !name.endsWith('storage');
    const request = plain ? name : `requests.${name}`;
    const limit = `limits.${name}`;
    if ((compareQuantities(hard[request], hard[limit]) ?? 0) <= 0) return [];
    return [`ResourceQuota ${request} (${hard[request]}) should be less than ${limit} (${hard[limit]})`];
  });
}

const enforce = 'kubernetes.io/enforce-mountable-secrets';

export function serviceAccountWarnings(object: JsonObject, old?: JsonObject): string[] {
  const has = (one: JsonObject | undefined) => at(one, 'metadata', 'annotations', enforce) !== undefined;
  if (!has(object) || has(old)) return [];
  const rule = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';
  return [`metadata.annotations[${enforce}]: ${rule}`];
}

export function endpointsWarnings(object: JsonObject): string[] {
  const manager = at(object, 'metadata', 'labels', 'endpoints.kubernetes.io/managed-by');
  if (manager === 'endpoint-controller') return [];
  return records(object['subsets']).flatMap((subset, i) =>
    ['addresses', 'notReadyAddresses'].flatMap((list) =>
      records(subset[list]).flatMap(({ ip }, j) =>
        addressWarnings(text(ip), `subsets[${i}].${list}[${j}].ip`),
      ),
    ),
  );
}

function pem(data: unknown, kind: string, wanted: RegExp): { text: string } | { problem: string } {
  const content = Buffer.from(text(data), 'base64').toString('latin1');
  const blocks = [...content.matchAll(/-----BEGIN ([^-]+)-----[\s\S]+?-----END \1-----/g)];
  if (blocks.length === 0) return { problem: `tls: failed to find any PEM data in ${kind} input` };
  const found = blocks.find((block) => wanted.test(block[1] ?? ''));
  if (found) return { text: found[0] };
  const types = blocks.map((block) => block[1]).join(' ');
  const what = kind === 'key' ? 'PEM block with type ending in "PRIVATE KEY"' : '"CERTIFICATE" PEM block';
  return {
    problem: `tls: failed to find ${what} in ${kind} input after skipping PEM blocks of the following types: [${types}]`,
  };
}

/** Of a key and certificate that do not fit. */
export function secretWarnings(object: JsonObject): string[] {
  if (object['type'] !== 'kubernetes.io/tls') return [];
  const certificate = pem(at(object, 'data', 'tls.crt'), 'certificate', /^CERTIFICATE$/);
  if ('problem' in certificate) return [certificate.problem];
  const key = pem(at(object, 'data', 'tls.key'), 'key', /PRIVATE KEY$/);
  if ('problem' in key) return [key.problem];
  try {
    const fits = new X509Certificate(certificate.text).checkPrivateKey(createPrivateKey(key.text));
    return fits ? [] : ['tls: private key does not match public key'];
  } catch {
    return [`tls: failed to parse ${quoteGo('tls.key')} or ${quoteGo('tls.crt')}`];
  }
}
