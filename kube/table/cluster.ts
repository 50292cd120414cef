import type { JsonObject } from '../object.ts';
import { at, int, isRecord, record, records, strings, text } from '../untyped.ts';
import { accessModes, conditionStatus } from './format.ts';
import { isDefault } from './network.ts';
import type { Printer, Printers, Row } from './printer.ts';

function nodeRoles(labels: JsonObject): string {
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith('node-role.kubernetes.io/')) return [key.slice('node-role.kubernetes.io/'.length)];
    return key === 'kubernetes.io/role' ? [text(value)] : [];
  });
  return [...new Set(roles.filter(Boolean))].sort().join(',') || '<none>';
}

function componentCells({ name, object }: Row): unknown[] {
  const healthy = records(object['conditions']).find((one) => one['type'] === 'Healthy');
  if (healthy === undefined) return [name, 'Unknown', '', ''];
  const status = healthy['status'] === 'True' ? 'Healthy' : 'Unhealthy';
  return [name, status, text(healthy['message']), text(healthy['error'])];
}

function nodeCells(row: Row): unknown[] {
  const ready = conditionStatus(row.object, 'Ready');
  const state = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady';
  const status = row.spec['unschedulable'] === true ? `${state},SchedulingDisabled` : state;
  const info = (field: string) => text(at(row.status, 'nodeInfo', field));
  const address = (type: string) => {
    const found = records(row.status['addresses']).find((one) => one['type'] === type);
    return found ? text(found['address']) : '<none>';
  };
  const architecture = info('architecture') ? ` (${info('architecture')})` : '';
  return [
    row.name,
    status,
    nodeRoles(record(at(row.object, 'metadata', 'labels'))),
    row.age,
    info('kubeletVersion'),
    address('InternalIP'),
    address('ExternalIP'),
    info('osImage') || '<unknown>',
    (info('kernelVersion') || '<unknown>') + architecture,
    info('containerRuntimeVersion') || '<unknown>',
  ];
}

const phase = (row: Row) =>
  at(row.object, 'metadata', 'deletionTimestamp') ? 'Terminating' : text(row.status['phase']);

const volumeClass = (row: Row) =>
  text(at(row.object, 'metadata', 'annotations', 'volume.beta.kubernetes.io/storage-class')) ||
  text(row.spec['storageClassName']);

function volumeCells(row: Row): unknown[] {
  const { spec } = row;
  const claim = spec['claimRef'];
  return [
    row.name,
    at(spec, 'capacity', 'storage') ?? '0',
    accessModes(spec['accessModes']),
    text(spec['persistentVolumeReclaimPolicy']),
    phase(row),
    isRecord(claim) ? `${text(claim['namespace'])}/${text(claim['name'])}` : '',
    volumeClass(row),
    spec['volumeAttributesClassName'] ?? '<unset>',
    text(row.status['reason']),
    row.age,
    spec['volumeMode'] ?? '<unset>',
  ];
}

function claimCells(row: Row): unknown[] {
  const { spec, status } = row;
  // Kubernetes asks the volume's name alone, which a claim that is bound elsewhere has not.
  const bound = text(spec['volumeName']) !== '' || status['phase'] === 'Bound';
  return [
    row.name,
    phase(row),
    text(spec['volumeName']),
    bound ? (at(status, 'capacity', 'storage') ?? '0') : '',
    bound ? accessModes(status['accessModes']) : '',
    volumeClass(row),
    spec['volumeAttributesClassName'] ?? '<unset>',
    row.age,
    spec['volumeMode'] ?? '<unset>',
  ];
}

function quotaCells(row: Row): unknown[] {
  const hard = record(row.status['hard']);
  const used = record(row.status['used']);
  const shown = (limits: boolean) =>
    Object.keys(hard)
      .filter((name) => name.startsWith('limits.') === limits)
      .sort()
      .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
      .join(', ');
  return [row.name, shown(false), shown(true), row.age];
}

function eventCells(row: Row): unknown[] {
  const { object } = row;
  const regarding = object['involvedObject'] ?? object['regarding'];
  const source = object['source'] ?? object['deprecatedSource'];
  const firstTime = object['firstTimestamp'] ?? object['deprecatedFirstTimestamp'] ?? object['eventTime'];
  const lastTime = object['lastTimestamp'] ?? object['deprecatedLastTimestamp'] ?? firstTime;
  const series = object['series'];
  const last = isRecord(series) ? series['lastObservedTime'] : lastTime;
  const counted = isRecord(series) ? series['count'] : (object['count'] ?? object['deprecatedCount']);
  const kind = text(at(regarding, 'kind')).toLowerCase();
  const about = text(at(regarding, 'name'));
  const component = text(at(source, 'component')) || controller(object, 'Component', 'Controller');
  const instance = text(at(source, 'host')) || text(object['reportingInstance']);
  return [
    row.since(last),
    text(object['type']),
    text(object['reason']),
    about ? `${kind}/${about}` : kind,
    text(at(regarding, 'fieldPath')),
    instance ? `${component}, ${instance}` : component,
    text(object['message'] ?? object['note']).trim(),
    row.since(firstTime),
    int(counted) || (isRecord(series) ? 0 : 1),
    row.name,
  ];
}

/** core/v1 and events.k8s.io/v1 name the reporter differently. */
function controller(object: JsonObject, ...endings: string[]): string {
  return endings.map((ending) => text(object[`reporting${ending}`])).find(Boolean) ?? '';
}

const event: Printer = {
  columns: 'Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|@Name*',
  cells: eventCells,
};

export const clusterPrinters: Printers = {
  '/ComponentStatus': { columns: '@Name|Status|Message|Error', cells: componentCells },
  '/Node': {
    columns:
      '@Name|Status|Roles|Age|Version|Internal-IP*|External-IP*|OS-Image*|Kernel-Version*|Container-Runtime*',
    cells: nodeCells,
  },
  '/Namespace': {
    columns: '@Name|Status|Age',
    cells: (row) => [row.name, text(row.status['phase']), row.age],
  },
  '/Event': event,
  'events.k8s.io/Event': event,
  '/PersistentVolume': {
    columns:
      '@Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|VolumeMode*',
    cells: volumeCells,
  },
  '/PersistentVolumeClaim': {
    columns: '@Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode*',
    cells: claimCells,
  },
  '/ResourceQuota': { columns: '@Name|Request|Limit|Age', cells: quotaCells },
  'storage.k8s.io/StorageClass': {
    columns: '@Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age',
    cells: ({ name, object, age }) => [
      isDefault(object, 'storageclass.kubernetes.io/is-default-class') ? `${name} (default)` : name,
      text(object['provisioner']),
      object['reclaimPolicy'] ?? 'Delete',
      object['volumeBindingMode'] ?? 'Immediate',
      object['allowVolumeExpansion'] ?? false,
      age,
    ],
  },
  'storage.k8s.io/CSIDriver': {
    columns:
      '@Name|AttachRequired:b|PodInfoOnMount:b|StorageCapacity:b|TokenRequests|RequiresRepublish:b|Modes|Age',
    cells: ({ name, spec, age }) => [
      name,
      spec['attachRequired'] ?? true,
      spec['podInfoOnMount'] ?? false,
      spec['storageCapacity'] ?? false,
      spec['tokenRequests'] === undefined
        ? '<unset>'
        : records(spec['tokenRequests'])
            .map((request) => text(request['audience']))
            .join(','),
      spec['requiresRepublish'] ?? false,
      strings(spec['volumeLifecycleModes']).join(',') || '<none>',
      age,
    ],
  },
  'storage.k8s.io/CSINode': {
    columns: '@Name|Drivers:i|Age',
    cells: ({ name, spec, age }) => [name, records(spec['drivers']).length, age],
  },
  'storage.k8s.io/VolumeAttachment': {
    columns: '@Name|@Attacher|PV|Node|Attached:b|Age',
    cells: ({ name, spec, status, age }) => [
      name,
      text(spec['attacher']),
      text(at(spec, 'source', 'persistentVolumeName')),
      text(spec['nodeName']),
      status['attached'] ?? false,
      age,
    ],
  },
  'storage.k8s.io/VolumeAttributesClass': {
    columns: '@Name|DriverName|Age',
    cells: ({ name, object, age }) => [name, text(object['driverName']), age],
  },
};
