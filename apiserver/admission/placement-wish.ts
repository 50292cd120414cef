import { clustersAnnotation, placedByAnnotation, schedulerUser } from '../../cluster/names.ts';
import type { Json } from '../../kube/object.ts';
import { getOwn, isRecord } from '../../kube/untyped.ts';
import { decodeYaml } from '../../kube/yaml.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const pointer = `/metadata/annotations/${clustersAnnotation.replaceAll('/', '~1')}`;

/**
 * Whether a patch, of any dialect, says itself where the object is to be, though that is where it is. A copy of what the
 * scheduler wrote does not, and of a client-side apply only what was applied tells.
 */
export function namesClusters(patch: Uint8Array): boolean {
  const text = Buffer.from(patch).toString();
  // Most say nothing of the kind.
  const sent = text.includes('atoll.dev') ? decode(text) : undefined;
  if (Array.isArray(sent)) return sent.some(setsClusters);
  const metadata = isRecord(sent) ? sent['metadata'] : undefined;
  return isRecord(metadata) && annotationsName(metadata['annotations']);
}

/** Only what is applied may be YAML that is no JSON. */
function decode(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return decodeYaml(text).value;
  }
}

function setsClusters(operation: Json): boolean {
  if (!isRecord(operation) || (operation['op'] !== 'add' && operation['op'] !== 'replace')) return false;
  const { path, value } = operation;
  if (path === pointer) return typeof value === 'string';
  if (path === '/metadata/annotations') return annotationsName(value);
  return path === '/metadata' && isRecord(value) && annotationsName(value['annotations']);
}

function annotationsName(annotations: unknown): boolean {
  if (!isRecord(annotations) || getOwn(annotations, placedByAnnotation) === schedulerUser) return false;
  if (typeof getOwn(annotations, clustersAnnotation) === 'string') return true;
  const applied = getOwn(annotations, lastApplied);
  if (typeof applied !== 'string' || !applied.includes(clustersAnnotation)) return false;
  try {
    const { metadata } = JSON.parse(applied) as { metadata?: { annotations?: unknown } };
    const { annotations: given } = metadata ?? {};
    return isRecord(given) && !(lastApplied in given) && annotationsName(given);
  } catch {
    return false;
  }
}
