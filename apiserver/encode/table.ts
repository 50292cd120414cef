import { encodeJson } from '../../kube/json.ts';
import { firstAt } from '../../kube/jsonpath/find.ts';
import { type Path, parsePath } from '../../kube/jsonpath/parse.ts';
import type { Json, KubeObject } from '../../kube/object.ts';
import { timeError } from '../../kube/schema/mismatch.ts';
import { sortedKeys } from '../../kube/sorted.ts';
import { type ColumnDefinition, inPrintedOrder, tableFor } from '../../kube/table/index.ts';
import { toStored } from '../registry/convert.ts';
import type { CustomColumn, ServedResource } from '../served.ts';
import { partial } from './partial.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface Table {
  kind: 'Table';
  apiVersion: string;
  metadata: Record<string, unknown>;
  columnDefinitions: unknown[] | null;
  rows: unknown[];
}

/** meta.k8s.io Table. https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables */
export function tableOf(
  served: ServedResource,
  listed: KubeObject[],
  options: {
    version: string;
    include: IncludeObject;
    metadata: Record<string, unknown>;
    now: Date;
    /** Of a kind whose Tables say it, of each object: see clusters-column.ts. */
    clusters?: readonly string[] | undefined;
  },
): Table {
  const { clusters } = options;
  const objects = served.columns ? listed : inPrintedOrder(served.info, listed);
  const printed = objects.map((object) => printedFrom(object, served));
  const content = served.columns
    ? customContent(served.columns, objects, options.now)
    : tableFor(served.info, printed, options.now);
  const shown = (object: KubeObject, i: number) => {
    if (options.include === 'None') return { object: null };
    return { object: options.include === 'Object' ? object : partial(printed[i] ?? object, options.version) };
  };
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.metadata,
    columnDefinitions: clusters ? [...content.columnDefinitions, clustersColumn] : content.columnDefinitions,
    rows: objects.map((object, i) => ({
      cells: [...(content.cells[i] ?? []), ...(clusters ? [clusters[i] ?? ''] : [])],
      ...conditions(object),
      ...shown(object, i),
    })),
  };
}

/** An autoscaler of v1 is printed as what it stands for: most of its metrics are annotations there. */
function printedFrom(object: KubeObject, served: ServedResource): KubeObject {
  const { group, version } = served.info;
  return group === 'autoscaling' && version === 'v1' && object.kind === 'HorizontalPodAutoscaler'
    ? toStored(object, served)
    : object;
}

const clustersColumn: ColumnDefinition = {
  name: 'Clusters',
  type: 'string',
  format: '',
  description: 'Clusters',
  priority: 1,
};

const ended: Readonly<Record<string, string>> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
};

/** A row of a Pod that ended says so, for clients that hide such rows. */
function conditions({ kind, apiVersion, status }: KubeObject): { conditions?: object[] } {
  if (kind !== 'Pod' || apiVersion !== 'v1') return {};
  const { phase = '' } = (status ?? {}) as { phase?: string };
  const message = Object.hasOwn(ended, phase) ? ended[phase] : undefined;
  if (message === undefined) return {};
  return { conditions: [{ type: 'Completed', status: 'True', reason: phase, message }] };
}

const nameColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object',
  priority: 0,
};

/** Of a definition's columns: a path may be as long as a definition, and tables are made for each event. */
const paths = new WeakMap<CustomColumn, Path>();

function pathOf(column: CustomColumn): Path {
  const known = paths.get(column);
  if (known) return known;
  const path = parsePath(column.jsonPath) ?? [];
  paths.set(column, path);
  return path;
}

function customContent(columns: readonly CustomColumn[], objects: readonly KubeObject[], now: Date) {
  const cells = columns.map((column) => {
    const { compute, type } = column;
    const path = pathOf(column);
    const read =
      compute ?? ((object: KubeObject) => (path.length > 0 ? shownAt(object, path, type) : undefined));
    return (object: KubeObject) => cell(type, read(object), now);
  });
  return {
    columnDefinitions: [
      nameColumn,
      ...columns.map(({ jsonPath: _, compute: __, ...definition }) => definition),
    ],
    cells: objects.map((object) => [object.metadata.name ?? '', ...cells.map((of) => of(object))]),
  };
}

/** A text that is there and null is told from one that is not there. */
function shownAt(object: KubeObject, path: Path, type: string): unknown {
  const value = firstAt(object, path);
  return value === null && type === 'string' ? '<no value>' : value;
}

/** Null: there is nothing, or something of another type than the column's. */
function cell(type: string, value: unknown, now: Date): unknown {
  if (value === undefined || value === null) return null;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : asGoPrints(value as Json);
    case 'date':
      return typeof value === 'string' ? since(value, now) : null;
    case 'integer':
      return isNumber ? (typeof value === 'number' ? Math.trunc(value) : value) : null;
    case 'number':
      return isNumber ? Number(value) : null;
    default:
      return typeof value === type ? value : null;
  }
}

function asGoPrints(value: Json): string {
  return encodeJson(sortedKeys(value)).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function since(time: string, now: Date): string {
  if (time === '' || time === 'null') return '<unknown>';
  return timeError(time, false) === undefined ? age(time, now) : '<invalid>';
}

function age(time: string, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return '<unknown>';
  if (seconds < 0) return seconds > -2 ? '0s' : '<invalid>';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 && days % 365 > 0 ? `${years}y${days % 365}d` : `${years}y`;
}
