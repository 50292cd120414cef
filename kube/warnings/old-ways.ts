import type { JsonObject } from '../object.ts';
import { quoteGo } from '../quote.ts';
import { at, record, records, strings, text } from '../untyped.ts';
import { rangeWarnings } from './ip.ts';
import type { KindWarnings } from './kind.ts';
import { deprecatedLabel, nodeTermWarnings } from './node-labels.ts';

const classAnnotation = 'kubernetes.io/ingress.class';

function ingress(object: JsonObject, old?: JsonObject): string[] {
  if (old !== undefined || at(object, 'spec', 'ingressClassName') !== undefined) return [];
  if (at(object, 'metadata', 'annotations', classAnnotation) === undefined) return [];
  return [`annotation ${quoteGo(classAnnotation)} is deprecated, please use 'spec.ingressClassName' instead`];
}

function networkPolicy(object: JsonObject): string[] {
  const blocks = (way: string, end: string) =>
    records(at(object, 'spec', way)).flatMap((rule, i) =>
      records(rule[end]).flatMap((peer, j) =>
        blockWarnings(peer['ipBlock'], `spec.${way}[${i}].${end}[${j}].ipBlock`),
      ),
    );
  return [...blocks('ingress', 'from'), ...blocks('egress', 'to')];
}

function blockWarnings(block: unknown, path: string): string[] {
  return [
    ...rangeWarnings(text(at(block, 'cidr')), `${path}.cidr`),
    ...strings(at(block, 'except')).flatMap((range, i) => rangeWarnings(range, `${path}.except[${i}]`)),
  ];
}

/** Of a map, whose keys have no order. */
function oldKeys(labels: unknown, pathOf: (key: string) => string): string[] {
  return Object.keys(record(labels)).flatMap((key) => {
    const message = deprecatedLabel(key);
    return message === undefined ? [] : [`${pathOf(key)}: ${message}`];
  });
}

function storageClass(object: JsonObject): string[] {
  return records(object['allowedTopologies']).flatMap((topology, i) =>
    records(topology['matchLabelExpressions']).flatMap(({ key }, j) => {
      const message = deprecatedLabel(text(key));
      const path = `allowedTopologies[${i}].matchLabelExpressions[${j}].key`;
      return message === undefined ? [] : [`${path}: ${message}`];
    }),
  );
}

function storageCapacity({ nodeTopology }: JsonObject): string[] {
  return [
    ...nodeTermWarnings(nodeTopology, false, 'nodeTopology'),
    ...oldKeys(at(nodeTopology, 'matchLabels'), (key) => `nodeTopology.matchLabels.${key}`),
  ];
}

function resourceSlice(object: JsonObject): string[] {
  const driver = text(at(object, 'spec', 'driver'));
  if (driver === driver.toLowerCase()) return [];
  const rule = 'driver names should be lowercase';
  return [`spec.driver: ${rule}; ${quoteGo(driver)} contains uppercase characters`];
}

const staticSuffix = '.static.k8s.io';

function configuration(object: JsonObject): string[] {
  if (!text(at(object, 'metadata', 'name')).endsWith(staticSuffix)) return [];
  const whose = 'are reserved for static manifest-based configurations and cannot be managed via the API';
  return [`metadata.name: names ending with ${quoteGo(staticSuffix)} ${whose}`];
}

const configurations = [
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
];

/** What there is a better way for by now, of kinds beside core's and workloads. By `<group>/<kind>`. */
export const oldWays: Readonly<Record<string, KindWarnings>> = {
  'networking.k8s.io/Ingress': ingress,
  'networking.k8s.io/NetworkPolicy': networkPolicy,
  'node.k8s.io/RuntimeClass': (object) =>
    oldKeys(at(object, 'scheduling', 'nodeSelector'), () => 'scheduling.nodeSelector'),
  'storage.k8s.io/StorageClass': storageClass,
  'storage.k8s.io/CSIStorageCapacity': storageCapacity,
  'resource.k8s.io/ResourceSlice': resourceSlice,
  ...Object.fromEntries(
    configurations.map((kind) => [`admissionregistration.k8s.io/${kind}`, configuration]),
  ),
};
