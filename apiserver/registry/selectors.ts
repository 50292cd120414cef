import type { KubeObject } from '../../kube/object.ts';
import { type FieldRequirement, parseFieldSelector, parseLabelSelector } from '../../kube/selector.ts';
import { badRequest } from '../../kube/status.ts';
import { getOwn, isRecord } from '../../kube/untyped.ts';
import type { ServedResource } from '../served.ts';
import { labelsOf } from './labels.ts';

/** The label and field selectors of one list or watch. */
export interface Selection {
  /** False when it selects by something other than the name or namespace in the key. */
  everything: boolean;
  /** Of `metadata.name=x`. */
  name?: string;
  /** @param decode called only where a field selector asks for more than the labels. */
  matches(value: Uint8Array, decode: () => KubeObject): boolean;
}

type Reader = (object: KubeObject) => string;

/**
 * What a list or watch selects: by its query, and by the name in its path, where the old path of a watch has one.
 * Throws StatusError 400.
 */
export function parseSelection(
  { query, name: named }: { query: URLSearchParams; name: string },
  served: ServedResource,
): Selection {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  const labels = labelText.trim() === '' ? undefined : parseLabelSelector(labelText);
  const asked = fieldText === '' ? [] : parseFieldSelector(fieldText);
  // `=` asks for nothing.
  const said = asked.filter(({ field, value }) => field !== '' || value !== '');
  const fields = named === '' ? said : ofOne(named, said, served);
  const readers = fields.map((f) => ({ ...f, read: readerOf(f, served) }));
  const name = selectedOf(fields);
  return {
    everything: labels === undefined && fields.length === 0,
    ...(name !== undefined && { name }),
    matches: (value, decode) => {
      if (labels !== undefined && !labels.matches(labelsOf(value))) return false;
      if (readers.length === 0) return true;
      const object = decode();
      return readers.every((f) => (f.read(object) === f.value) === (f.op === '='));
    },
  };
}

/** A selector beside a name can only say the same name, and more. */
function ofOne(name: string, fields: FieldRequirement[], served: ServedResource): FieldRequirement[] {
  if (fields.length === 0) return [{ field: 'metadata.name', op: '=', value: name }];
  for (const field of fields) readerOf(field, served);
  if (selectedOf(fields) === name) return fields;
  throw badRequest("fieldSelector metadata.name doesn't match requested name");
}

/** The first that is asked for. */
function selectedOf(fields: readonly FieldRequirement[]): string | undefined {
  return fields.find(({ field, op }) => field === 'metadata.name' && op === '=')?.value;
}

function at(...path: string[]): Reader {
  return (object) => {
    let value: unknown = object;
    for (const part of path) value = isRecord(value) ? getOwn(value, part) : undefined;
    return value === undefined || value === null ? '' : String(value);
  };
}

const everywhere = ['metadata.name', 'metadata.namespace'];

/** What each kind can be selected by beside its name. https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/ */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  '/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'spec.host',
    'status.nominatedNodeName',
  ],
  '/events': [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
      (f) => `involvedObject.${f}`,
    ),
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  'events.k8s.io/events': ['reason', 'reportingController', 'type', 'regarding.kind', 'regarding.name'],
  '/secrets': ['type'],
  '/namespaces': ['status.phase'],
  '/nodes': ['spec.unschedulable'],
  '/replicationcontrollers': ['status.replicas'],
  '/services': ['spec.clusterIP', 'spec.type'],
  'batch/jobs': ['status.successful'],
  'certificates.k8s.io/certificatesigningrequests': ['spec.signerName'],
  'resource.k8s.io/resourceslices': ['spec.nodeName', 'spec.driver'],
};

const specialReaders: Readonly<Record<string, Reader>> = {
  '/events source': (event) => at('source', 'component')(event) || at('reportingComponent')(event),
  'batch/jobs status.successful': (job) => at('status', 'succeeded')(job) || '0',
  '/nodes spec.unschedulable': (node) => at('spec', 'unschedulable')(node) || 'false',
  '/pods spec.host': at('spec', 'nodeName'),
  '/pods status.podIPs': at('status', 'podIP'),
  '/pods spec.hostNetwork': (pod) => at('spec', 'hostNetwork')(pod) || 'false',
  '/replicationcontrollers status.replicas': (rc) => at('status', 'replicas')(rc) || '0',
  // Stored as core events.
  'events.k8s.io/events regarding.kind': at('involvedObject', 'kind'),
  'events.k8s.io/events regarding.name': at('involvedObject', 'name'),
  'events.k8s.io/events reportingController': at('reportingComponent'),
};

/** Kinds that refuse an unknown field in words of their own. */
const wordings: Readonly<Record<string, (field: string) => string>> = {
  'batch/jobs': (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  'resource.k8s.io/resourceslices': (field) =>
    `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
};

function ownFields({ info, custom }: ServedResource): boolean {
  return !custom && !info.namespaced && fieldsOf[`${info.group}/${info.resource}`] !== undefined;
}

function readerOf(requirement: FieldRequirement, served: ServedResource): Reader {
  const { field } = requirement;
  const { group, resource } = served.info;
  const known = fieldsOf[`${group}/${resource}`] ?? [];
  const custom = served.selectableFields ?? [];
  // Kinds that say themselves what they know, and have no namespace, do not know it.
  const general = everywhere.includes(field) && !(field === 'metadata.namespace' && ownFields(served));
  if (general || known.includes(field) || custom.includes(`.${field}`)) {
    return specialReaders[`${group}/${resource} ${field}`] ?? at(...field.split('.'));
  }
  const wording = wordings[`${group}/${resource}`];
  if (wording !== undefined) throw badRequest(wording(field));
  if (served.custom || known.length > 0) throw badRequest(`field label not supported: ${field}`);
  throw badRequest(
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}
