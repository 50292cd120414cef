import { at, int, records, text } from '../untyped.ts';
import {
  conditionStatus,
  containerCells,
  formatLabels,
  formatSelector,
  humanDuration,
  selectorText,
} from './format.ts';
import { metricsCell } from './metrics.ts';
import type { Printers, Row } from './printer.ts';

const template = (row: Row) => containerCells(at(row.spec, 'template', 'spec'));

function counters(row: Row, ...fields: string[]): number[] {
  return fields.map((field) => int(row.status[field]));
}

function jobStatus(row: Row): string {
  const is = (type: string) => conditionStatus(row.object, type) === 'True';
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (at(row.object, 'metadata', 'deletionTimestamp')) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running';
}

function jobCells(row: Row): unknown[] {
  const { spec, status } = row;
  const done = int(status['succeeded']);
  const parallelism = int(spec['parallelism']);
  const wanted = spec['completions'] ?? (parallelism > 1 ? `1 of ${parallelism}` : 1);
  const start = text(status['startTime']);
  const end = text(status['completionTime']);
  const took =
    start && end ? humanDuration(Date.parse(end) - Date.parse(start)) : start ? row.since(start) : '';
  const cells = [row.name, jobStatus(row), `${done}/${wanted}`, took, row.age];
  return [...cells, ...template(row), formatSelector(spec['selector'])];
}

function cronJobCells(row: Row): unknown[] {
  const { spec, status } = row;
  const suspend = spec['suspend'];
  const job = at(spec, 'jobTemplate', 'spec');
  return [
    row.name,
    text(spec['schedule']),
    spec['timeZone'] ?? '<none>',
    suspend === undefined ? '<unset>' : suspend === true ? 'True' : 'False',
    records(status['active']).length,
    status['lastScheduleTime'] ? row.since(status['lastScheduleTime']) : '<none>',
    row.age,
    ...containerCells(at(job, 'template', 'spec')),
    formatSelector(at(job, 'selector')),
  ];
}

const replicaColumns = '@Name|Desired:i|Current:i|Ready:i|Age|Containers*|Images*|Selector*';

function replicas(row: Row, selector: string): unknown[] {
  const counts = [int(row.spec['replicas']), ...counters(row, 'replicas', 'readyReplicas')];
  return [row.name, ...counts, row.age, ...template(row), selector];
}

function scaler(row: Row): unknown[] {
  const { spec, status } = row;
  const target = `${text(at(spec, 'scaleTargetRef', 'kind'))}/${text(at(spec, 'scaleTargetRef', 'name'))}`;
  const least = spec['minReplicas'] === undefined ? '<unset>' : String(spec['minReplicas']);
  const counts = [least, int(spec['maxReplicas']), int(status['currentReplicas'])];
  return [row.name, target, metricsCell(spec, status), ...counts, row.age];
}

const available = (value: unknown) => (value === undefined ? 'N/A' : String(value));

export const workloadPrinters: Printers = {
  'apps/Deployment': {
    columns: '@Name|Ready|Up-to-date|Available|Age|Containers*|Images*|Selector*',
    cells: (row) => [
      row.name,
      `${int(row.status['readyReplicas'])}/${int(row.spec['replicas'])}`,
      ...counters(row, 'updatedReplicas', 'availableReplicas'),
      row.age,
      ...template(row),
      selectorText(row.spec['selector']),
    ],
  },
  'apps/StatefulSet': {
    columns: '@Name|Ready|Age|Containers*|Images*',
    cells: (row) => {
      const ready = `${int(row.status['readyReplicas'])}/${int(row.spec['replicas'])}`;
      return [row.name, ready, row.age, ...template(row)];
    },
  },
  'apps/DaemonSet': {
    columns:
      '@Name|Desired:i|Current:i|Ready:i|Up-to-date:i|Available:i|Node Selector|Age|Containers*|Images*|Selector*',
    cells: (row) => [
      row.name,
      ...counters(row, 'desiredNumberScheduled', 'currentNumberScheduled', 'numberReady'),
      ...counters(row, 'updatedNumberScheduled', 'numberAvailable'),
      formatLabels(at(row.spec, 'template', 'spec', 'nodeSelector')),
      row.age,
      ...template(row),
      formatSelector(row.spec['selector']),
    ],
  },
  'apps/ReplicaSet': {
    columns: replicaColumns,
    cells: (row) => replicas(row, formatSelector(row.spec['selector'])),
  },
  '/ReplicationController': {
    columns: replicaColumns,
    cells: (row) => replicas(row, formatLabels(row.spec['selector'])),
  },
  'apps/ControllerRevision': {
    columns: '@Name|Controller|Revision|Age',
    cells: ({ name, object, age }) => {
      const owner = records(at(object, 'metadata', 'ownerReferences')).find(
        (ref) => ref['controller'] === true,
      );
      const group = text(owner?.['apiVersion']).split('/').slice(0, -1).join('');
      const kind = group ? `${text(owner?.['kind'])}.${group}` : text(owner?.['kind']);
      const controller = owner ? `${kind.toLowerCase()}/${text(owner['name'])}` : '<none>';
      return [name, controller, int(object['revision']), age];
    },
  },
  'batch/Job': {
    columns: '@Name|Status|Completions|Duration|Age|Containers*|Images*|Selector*',
    cells: jobCells,
  },
  'batch/CronJob': {
    columns: '@Name|Schedule|Timezone|Suspend:b|Active:i|Last Schedule|Age|Containers*|Images*|Selector*',
    cells: cronJobCells,
  },
  'autoscaling/HorizontalPodAutoscaler': {
    columns: '@Name|Reference|Targets|MinPods|MaxPods|Replicas|Age',
    cells: scaler,
  },
  'autoscaling/Scale': {
    columns: 'Name|Desired:i|Available:i|Age',
    cells: (row) => [row.name, int(row.spec['replicas']), int(row.status['replicas']), row.age],
  },
  'policy/PodDisruptionBudget': {
    columns: '@Name|Min Available|Max Unavailable|Allowed Disruptions:i|Age',
    cells: (row) => [
      row.name,
      available(row.spec['minAvailable']),
      available(row.spec['maxUnavailable']),
      int(row.status['disruptionsAllowed']),
      row.age,
    ],
  },
};
