import type { JsonObject } from '../object.ts';
import { at, record, records, strings, text } from '../untyped.ts';

/** A span as `kubectl get` writes ages: two units at most, coarser as it grows. */
export function humanDuration(millis: number): string {
  const seconds = Math.trunc(millis / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return days < 2920 ? two(years, 'y', days % 365, 'd') : `${years}y`;
}

function two(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
}

export function since(time: unknown, now: Date): string {
  const millis = Date.parse(text(time));
  return Number.isNaN(millis) ? '<unknown>' : humanDuration(now.getTime() - millis);
}

/** `a=b,c=d`, sorted; `<none>` when empty. */
export function formatLabels(labels: unknown): string {
  const pairs = Object.entries(record(labels)).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, value]) => `${key}=${text(value)}`).join(',') || '<none>';
}

const operators: Record<string, string> = { In: 'in', NotIn: 'notin' };

function requirement(expression: JsonObject): { key: string; shown: string } {
  const key = text(expression['key']);
  const operator = text(expression['operator']);
  if (operator === 'Exists') return { key, shown: key };
  if (operator === 'DoesNotExist') return { key, shown: `!${key}` };
  const values = [...strings(expression['values'])].sort().join(',');
  return { key, shown: `${key} ${operators[operator] ?? operator} (${values})` };
}

/** A label selector in the syntax that kubectl -l takes; empty for one that selects everything. */
export function selectorText(selector: unknown): string {
  const labels = Object.entries(record(at(selector, 'matchLabels')));
  const parts = labels.map(([key, value]) => ({ key, shown: `${key}=${text(value)}` }));
  parts.push(...records(at(selector, 'matchExpressions')).map(requirement));
  parts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return parts.map((part) => part.shown).join(',');
}

export function formatSelector(selector: unknown): string {
  return selectorText(selector) || '<none>';
}

/** The names and the images of a pod template's containers. */
export function containerCells(podSpec: unknown): [string, string] {
  const containers = records(at(podSpec, 'containers'));
  const join = (field: string) => containers.map((container) => text(container[field])).join(',');
  return [join('name'), join('image')];
}

/** The first `max`, and how many more there are. */
export function listWithMore(list: string[], max: number, empty: string): string {
  if (list.length > max) return `${list.slice(0, max).join(',')} + ${list.length - max} more...`;
  return list.join(',') || empty;
}

/** Unique addresses of a load balancer, sorted. */
export function loadBalancerAddresses(status: unknown): string {
  const ingress = records(at(status, 'loadBalancer', 'ingress'));
  const addresses = ingress.map((one) => text(one['ip']) || text(one['hostname']));
  return [...new Set(addresses.filter(Boolean))].sort().join(',');
}

const modes: [string, string][] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

export function accessModes(value: unknown): string {
  const has = strings(value);
  return modes.flatMap(([mode, short]) => (has.includes(mode) ? [short] : [])).join(',');
}

export function conditionStatus(object: unknown, type: string): string | undefined {
  const found = records(at(object, 'status', 'conditions')).find((condition) => condition['type'] === type);
  return found ? text(found['status']) : undefined;
}
