import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records, text } from '../untyped.ts';

const sources: Record<string, string> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};

/** One metric as `current/target`. */
function metric(spec: JsonObject, status: JsonObject | undefined): string {
  const type = text(spec['type']);
  const field = sources[type];
  if (field === undefined) return '<unknown type>';
  const source = record(spec[field]);
  const target = record(source['target']);
  const current = record(at(status, field, 'current'));
  const known = isRecord(at(status, field));
  const shown = (value: unknown) => (value === undefined ? (known ? '0' : '<unknown>') : String(value));
  const average = target['averageValue'];
  if (field === 'resource' || field === 'containerResource') {
    const name = text(source['name']);
    if (average !== undefined) return `${name}: ${shown(current['averageValue'])}/${average}`;
    const percent = (value: unknown, none: string) => (value === undefined ? none : `${value}%`);
    const now = percent(current['averageUtilization'], '<unknown>');
    return `${name}: ${now}/${percent(target['averageUtilization'], '<auto>')}`;
  }
  if (field === 'pods') return `${shown(current['averageValue'])}/${average ?? '0'}`;
  if (average === undefined) return `${shown(current['value'])}/${target['value'] ?? '0'}`;
  return `${current['averageValue'] ?? '<unknown>'}/${average} (avg)`;
}

/** The first two metrics of a HorizontalPodAutoscaler, v1 or v2. */
export function metricsCell(spec: JsonObject, status: JsonObject): string {
  const specs = records(spec['metrics']);
  const statuses = records(status['currentMetrics']);
  if (specs.length === 0) {
    const target = spec['targetCPUUtilizationPercentage'];
    if (target === undefined) return '<none>';
    const current = status['currentCPUUtilizationPercentage'];
    return `cpu: ${current === undefined ? '<unknown>' : `${current}%`}/${target}%`;
  }
  const list = specs.map((one, index) => metric(one, statuses[index]));
  const more = list.length > 2 ? ` + ${list.length - 2} more...` : '';
  return `${list.slice(0, 2).join(', ')}${more}`;
}
