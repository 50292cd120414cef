import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { at, isRecord, record, records, text } from '../untyped.ts';
import { containersOf, containerWarnings, portWarnings, profileWarnings } from './containers.ts';
import { addressWarnings } from './ip.ts';
import { deprecatedLabel, nodeAffinityWarnings } from './node-labels.ts';
import { volumePathWarnings } from './paths.ts';
import { claimSpecWarnings, fractionalBytes } from './quantity.ts';

const deprecatedAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

const deprecatedVolumes: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

/** The plugin of a volume, if nobody should use it; kube-apiserver calls some otherwise than the API. */
function volumeWarnings(volume: JsonObject, path: string): string[] {
  const out: string[] = [];
  for (const [name, message] of Object.entries(deprecatedVolumes)) {
    if (name === 'cephfs') {
      const template = at(volume, 'ephemeral', 'volumeClaimTemplate', 'spec');
      out.push(...claimSpecWarnings(template, `${path}.ephemeral.volumeClaimTemplate.spec`));
    }
    if (isRecord(volume[name])) out.push(`${path}.${name === 'storageos' ? 'storageOS' : name}: ${message}`);
  }
  return out;
}

const spreads = 'topologySpreadConstraints';

function placement(spec: JsonObject, path: string): string[] {
  const out: string[] = [];
  for (const key of Object.keys(record(spec['nodeSelector']))) {
    const message = deprecatedLabel(key);
    if (message) out.push(`${path}.nodeSelector[${key}]: ${message}`);
  }
  out.push(...nodeAffinityWarnings(at(spec, 'affinity', 'nodeAffinity'), `${path}.affinity.nodeAffinity`));
  for (const [index, constraint] of records(spec[spreads]).entries()) {
    const where = `${path}.${spreads}[${index}]`;
    const key = text(constraint['topologyKey']);
    const message = deprecatedLabel(key);
    if (message) out.push(`${where}.topologyKey: ${key} is ${message}`);
    if (constraint['labelSelector'] === undefined) out.push(`${where}.labelSelector: ${matchesNone}`);
  }
  return out;
}

const matchesNone = 'a null labelSelector results in matching no pod';

function repeated(spec: JsonObject, path: string): string[] {
  const out: string[] = [];
  const twice = (list: string, key: string, what: string) => {
    const seen = new Set<string>();
    for (const [index, item] of records(spec[list]).entries()) {
      const value = text(item[key]);
      if (seen.has(value)) out.push(`${path}.${list}[${index}].${key}: duplicate ${what} ${quoteGo(value)}`);
      seen.add(value);
    }
  };
  twice('hostAliases', 'ip', 'ip');
  twice('imagePullSecrets', 'name', 'name');
  for (const [index, { name }] of records(spec['imagePullSecrets']).entries()) {
    if (!text(name)) out.push(`${path}.imagePullSecrets[${index}].name: invalid empty name ""`);
  }
  return out;
}

function podAffinity(spec: JsonObject, path: string): string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const own = at(spec, 'affinity', kind);
    const where = `${path}.affinity.${kind}`;
    const required = 'requiredDuringSchedulingIgnoredDuringExecution';
    const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
    const tell = (term: unknown, place: string) =>
      at(term, 'labelSelector') === undefined ? [`${place}.labelSelector: ${matchesNone}`] : [];
    return [
      ...records(at(own, required)).flatMap((term, i) => tell(term, `${where}.${required}[${i}]`)),
      ...records(at(own, preferred)).flatMap(({ podAffinityTerm }, i) =>
        tell(podAffinityTerm, `${where}.${preferred}[${i}].podAffinityTerm`),
      ),
    ];
  });
}

/** What kube-apiserver warns of in a pod, or in a template at `path`, empty for a Pod itself. */
export function podWarnings(object: unknown, path: string): string[] {
  const spec = record(at(object, 'spec'));
  const meta = record(at(object, 'metadata'));
  const inner = path === '' ? '' : `${path}.`;
  const where = `${inner}spec`;
  const out = placement(spec, where);
  const annotations = record(meta['annotations']);
  for (const [key, message] of Object.entries(deprecatedAnnotations)) {
    if (Object.hasOwn(annotations, key)) out.push(`${inner}metadata.annotations[${key}]: ${message}`);
  }
  const volumes = records(spec['volumes']);
  for (const [index, volume] of volumes.entries())
    out.push(...volumeWarnings(volume, `${where}.volumes[${index}]`));
  out.push(...volumePathWarnings(volumes), ...repeated(spec, where));
  out.push(...fractionalBytes(spec['overhead'], ['memory', 'ephemeral-storage'], `${where}.overhead`));
  out.push(...profileWarnings(spec, meta, path));
  for (const [container, place] of containersOf(spec, where))
    out.push(...containerWarnings(container, place));
  out.push(...portWarnings(spec, where));
  const grace = spec['terminationGracePeriodSeconds'];
  if ((typeof grace === 'number' || typeof grace === 'bigint') && grace < 0) {
    const rule = 'must be >= 0; negative values are invalid and will be treated as 1';
    out.push(`${where}.terminationGracePeriodSeconds: ${rule}`);
  }
  out.push(...podAffinity(spec, where));
  const servers = at(spec, 'dnsConfig', 'nameservers');
  for (const [index, server] of (Array.isArray(servers) ? servers : []).entries())
    out.push(...addressWarnings(text(server), `${where}.dnsConfig.nameservers[${index}]`));
  for (const [index, alias] of records(spec['hostAliases']).entries())
    out.push(...addressWarnings(text(alias['ip']), `${where}.hostAliases[${index}].ip`));
  return out;
}
