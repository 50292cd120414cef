import { rootType } from '../defaults/shape.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import type { KindInfo } from '../strategy/kind.ts';
import { at, record, text } from '../untyped.ts';
import { clusterPrinters } from './cluster.ts';
import { since } from './format.ts';
import { networkPrinters } from './network.ts';
import { podPrinters } from './pod.ts';
import { policyPrinters } from './policy.ts';
import type { Printer, Printers, Row } from './printer.ts';
import { workloadPrinters } from './workloads.ts';

export interface ColumnDefinition {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface TableContent {
  columnDefinitions: ColumnDefinition[];
  /** One row per object, one cell per column, those of the wide page included. */
  cells: unknown[][];
}

const printers: ReadonlyMap<string, Printer> = new Map(
  Object.entries<Printer>({
    ...podPrinters,
    ...workloadPrinters,
    ...networkPrinters,
    ...clusterPrinters,
    ...policyPrinters,
  } satisfies Printers),
);

const builtIn: Printer = {
  columns: '@Name|Created At:d',
  cells: ({ name, object }) => [name, at(object, 'metadata', 'creationTimestamp') ?? null],
};

const custom: Printer = { columns: '@Name|Age:d', cells: ({ name, age }) => [name, age] };

const types: Record<string, string> = { i: 'integer', b: 'boolean', d: 'date' };

function column(word: string): ColumnDefinition {
  const match = /^(@?)(.*?)(?::([ibd]))?(\*?)$/.exec(word);
  const [, named, name = word, type = '', wide] = match ?? [];
  return {
    name,
    type: types[type] ?? 'string',
    format: named ? 'name' : '',
    description: name === 'Name' ? 'Name of the object' : name,
    priority: wide ? 1 : 0,
  };
}

/**
 * The columns and cells that kube-apiserver prints for `objects`, ages relative to `now`. Kinds that it has no
 * printer for get their name and when they were made.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
 */
export function tableFor(info: KindInfo, objects: KubeObject[], now: Date): TableContent {
  const known = rootType(info.group, info.version, info.kind);
  const printer = printers.get(`${info.group}/${info.kind}`) ?? (known ? builtIn : custom);
  return {
    columnDefinitions: printer.columns.split('|').map(column),
    cells: objects.map((object) => printer.cells(rowOf(object as unknown as JsonObject, now))),
  };
}

/** As kube-apiserver prints a list of them. */
export function inPrintedOrder(info: KindInfo, objects: KubeObject[]): KubeObject[] {
  const order = printers.get(`${info.group}/${info.kind}`)?.order;
  if (!order) return objects;
  return [...objects].sort((a, b) => order(a as unknown as JsonObject, b as unknown as JsonObject));
}

function rowOf(object: JsonObject, now: Date): Row {
  const metadata = record(object['metadata']);
  return {
    object,
    name: text(metadata['name']),
    spec: record(object['spec']),
    status: record(object['status']),
    since: (time) => since(time, now),
    age: since(metadata['creationTimestamp'], now),
  };
}
