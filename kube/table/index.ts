import type { KubeObject } from '../object.ts';
import type { KindInfo } from '../strategy/kind.ts';

export interface ColumnDefinition {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface TableContent {
  columnDefinitions: ColumnDefinition[];
  /** One row per object, one cell per column. */
  cells: unknown[][];
}

/** The columns and cells that kube-apiserver prints for `objects`, ages relative to `now`. */
export function tableFor(_info: KindInfo, objects: KubeObject[], _now: Date): TableContent {
  return {
    columnDefinitions: [{ name: 'Name', type: 'string', format: 'name', description: '', priority: 0 }],
    cells: objects.map((object) => [object.metadata.name ?? '']),
  };
}
