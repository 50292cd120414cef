import type { JsonObject } from '../object.ts';
import { at, int, isRecord, record, records, text } from '../untyped.ts';
import { conditionStatus, containerCells, formatLabels } from './format.ts';
import type { Printers, Row } from './printer.ts';

interface Progress {
  reason: string;
  restarts: number;
  lastRestart: string;
  ready: number;
  total: number;
}

const restartable = (container: JsonObject | undefined) => container?.['restartPolicy'] === 'Always';

function addRestarts(progress: Progress, container: JsonObject): void {
  progress.restarts += int(container['restartCount']);
  const finished = text(at(container, 'lastState', 'terminated', 'finishedAt'));
  if (finished > progress.lastRestart) progress.lastRestart = finished;
}

function terminatedReason(terminated: JsonObject): string {
  if (text(terminated['reason'])) return text(terminated['reason']);
  const signal = int(terminated['signal']);
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${int(terminated['exitCode'])}`;
}

/** Why an init container holds the pod back; undefined when it does not. */
function initReason(
  container: JsonObject,
  index: number,
  sidecar: boolean,
  count: number,
): string | undefined {
  const terminated = at(container, 'state', 'terminated');
  if (isRecord(terminated) && int(terminated['exitCode']) === 0) return undefined;
  if (sidecar && container['started'] === true) return undefined;
  if (isRecord(terminated)) return `Init:${terminatedReason(terminated)}`;
  const waiting = text(at(container, 'state', 'waiting', 'reason'));
  return waiting && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${index}/${count}`;
}

/** Whether initialising still decides what the pod shows; restarts of sidecars go to `sidecars` too. */
function initialise(row: Row, progress: Progress, sidecars: Progress): boolean {
  const init = records(row.spec['initContainers']);
  const byName = new Map(init.map((container) => [text(container['name']), container]));
  progress.total += init.filter(restartable).length;
  for (const [index, container] of records(row.status['initContainerStatuses']).entries()) {
    const sidecar = restartable(byName.get(text(container['name'])));
    addRestarts(progress, container);
    if (sidecar) addRestarts(sidecars, container);
    const reason = initReason(container, index, sidecar, init.length);
    if (reason !== undefined) {
      progress.reason = reason;
      return true;
    }
    const done = isRecord(at(container, 'state', 'terminated'));
    if (!done && sidecar && container['ready'] === true) progress.ready++;
  }
  return false;
}

function run(row: Row, progress: Progress): void {
  let running = false;
  let failure = '';
  for (const container of records(row.status['containerStatuses']).reverse()) {
    addRestarts(progress, container);
    const waiting = text(at(container, 'state', 'waiting', 'reason'));
    const terminated = at(container, 'state', 'terminated');
    if (waiting) progress.reason = waiting;
    else if (isRecord(terminated)) {
      progress.reason = terminatedReason(terminated);
      if (int(terminated['exitCode']) !== 0) failure = progress.reason;
    } else if (container['ready'] === true && isRecord(at(container, 'state', 'running'))) {
      running = true;
      progress.ready++;
    }
  }
  if (progress.reason !== 'Completed') return;
  if (running && conditionStatus(row.object, 'Ready') === 'True') progress.reason = 'Running';
  else if (failure) progress.reason = failure;
  else if (running) progress.reason = 'NotReady';
}

function podCells(row: Row): unknown[] {
  const { spec, status } = row;
  const phase = text(status['phase']);
  const total = records(spec['containers']).length;
  const progress: Progress = {
    reason: text(status['reason']) || phase,
    restarts: 0,
    lastRestart: '',
    ready: 0,
    total,
  };
  const gated = records(status['conditions']).some(
    (condition) => condition['type'] === 'PodScheduled' && condition['reason'] === 'SchedulingGated',
  );
  if (gated) progress.reason = 'SchedulingGated';
  const sidecars: Progress = { ...progress };
  const initialising = initialise(row, progress, sidecars);
  if (!initialising || conditionStatus(row.object, 'Initialized') === 'True') {
    progress.restarts = sidecars.restarts;
    progress.lastRestart = sidecars.lastRestart;
    run(row, progress);
  }
  if (at(row.object, 'metadata', 'deletionTimestamp')) {
    if (status['reason'] === 'NodeLost') progress.reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') progress.reason = 'Terminating';
  }
  const { restarts, lastRestart } = progress;
  const shown = restarts !== 0 && lastRestart ? `${restarts} (${row.since(lastRestart)} ago)` : `${restarts}`;
  const ready = `${progress.ready}/${progress.total}`;
  return [row.name, ready, progress.reason, shown, row.age, ...wideCells(row)];
}

function wideCells({ object, spec, status }: Row): string[] {
  const gates = records(spec['readinessGates']);
  const open = gates.filter((gate) => conditionStatus(object, text(gate['conditionType'])) === 'True');
  return [
    text(at(records(status['podIPs'])[0], 'ip')) || '<none>',
    text(spec['nodeName']) || '<none>',
    text(status['nominatedNodeName']) || '<none>',
    gates.length > 0 ? `${open.length}/${gates.length}` : '<none>',
  ];
}

export const podPrinters: Printers = {
  '/Pod': {
    columns: '@Name|Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*',
    cells: podCells,
  },
  '/PodTemplate': {
    columns: '@Name|Containers|Images|Pod Labels',
    cells: ({ name, object }) => {
      const template = record(object['template']);
      return [name, ...containerCells(template['spec']), formatLabels(at(template, 'metadata', 'labels'))];
    },
  },
};
