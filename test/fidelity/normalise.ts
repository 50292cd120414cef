import type { Json } from '../../kube/object.ts';
import { isRecord, setOwn } from '../../kube/untyped.ts';
import { layoutOf, treeOf } from './body.ts';
import type { Answer, Names } from './case.ts';
import { isForeign, isOpenApi, plainOpenApi } from './openapi.ts';

/** An answer as it is compared: what must differ from server to server has become a placeholder. */
export interface Comparable {
  status: number;
  headers: Json;
  /** `compact` or `indented` for JSON. */
  layout: string;
  body: Json;
}

/** Headers that clients read. */
const compared = [
  'content-type',
  'cache-control',
  'warning',
  'retry-after',
  'vary',
  'content-encoding',
  'allow',
  'location',
  'x-kubernetes-pf-flowschema-uid',
  'x-kubernetes-pf-prioritylevel-uid',
];

/** In the order of Go's maps. */
const unordered = ['causes', 'managedFields', 'resourceRules', 'nonResourceRules'];

/**
 * One for each case and server: a revision or uid that the case has seen before shows as known, so that a write
 * which should have changed nothing shows.
 */
export class Normaliser {
  readonly #names: Names;
  readonly #seen = new Set<string>();
  readonly #columns: string[] = [];

  constructor(names: Names) {
    this.#names = names;
  }

  comparable(answer: Answer): Comparable {
    const { headers } = answer;
    const kept: Record<string, Json> = {};
    for (const name of compared) {
      const value = headers[name];
      if (value !== undefined) kept[name] = this.#walk(Array.isArray(value) ? [...value] : value, name, []);
    }
    if (headers['etag'] !== undefined) kept['etag'] = '<etag>';
    const text = answer.body.toString('utf8');
    const tree = withoutTimers(treeOf(String(headers['content-type'] ?? ''), answer.body));
    if (isOpenApi(tree)) {
      return { status: answer.status, headers: kept, layout: '', body: plainOpenApi(tree, this.#names.name) };
    }
    // A watch that told nothing but bookmarks told nothing.
    if (Array.isArray(tree) && tree.length === 0)
      return { status: answer.status, headers: kept, layout: '', body: '' };
    const body = this.#walk(tree, '', []);
    return { status: answer.status, headers: kept, layout: layoutOf(text), body };
  }

  #walk(value: Json, key: string, path: readonly string[]): Json {
    if (typeof value === 'string') return this.#text(value, key, path);
    if (Array.isArray(value)) return this.#list(value, key, path);
    if (!isRecord(value)) return isPort(value, key) ? '<nodeport>' : value;
    const at = [...path, key];
    const copy: { [key: string]: Json } = {};
    if (isTable(value)) this.#columns.splice(0, Infinity, ...columnNames(value));
    const saysClusters = value['kind'] === 'Table' && this.#columns.at(-1) === 'Clusters';
    const object = (saysClusters ? clustersAside(value) : value) as { [key: string]: Json };
    const isList = isRecord(object['metadata']) && isCollection(object);
    // In one order: what is seen first is new.
    for (const [name, item] of Object.entries(object).sort(([x], [y]) => (x < y ? -1 : 1))) {
      if (key === 'paths' && isForeign(/^apis\/([^/]+)/.exec(name)?.[1])) continue;
      if (isList && name === 'metadata' && isRecord(item)) {
        setOwn(copy, name, {
          ...item,
          ...(item['resourceVersion'] && { resourceVersion: '<list>' }),
        } as Json);
      } else setOwn(copy, this.#plain(name), this.#walk(item, name, at));
    }
    if (isList) this.#listMeta(copy);
    return copy;
  }

  #listMeta(copy: { [key: string]: Json }): void {
    const meta = copy['metadata'];
    if (isRecord(meta) && meta['continue']) meta['continue'] = '<continue>';
  }

  #list(value: Json[], key: string, path: readonly string[]): Json {
    if (key === 'cells') return value.map((cell, i) => this.#cell(cell, this.#columns[i] ?? ''));
    const listed = ['items', 'rows', 'groups'].includes(key);
    const items = listed
      ? value.filter(
          (item) => !madeByControllers(item) && !this.#foreignGroup(item, key) && !this.#ofOthers(item),
        )
      : value;
    const walked = items.map((item) => this.#walk(item, key === 'warning' ? key : `${key}[]`, path));
    // Asked of all at once, and told as they answer.
    if (listed && walked.some(isComponent)) return walked.sort(byText);
    // Owners come in order of their times, which are whole seconds: the order that is left is chance.
    if (!unordered.includes(key) && !(key === 'resources' && this.#areDefined(value))) return walked;
    return walked.sort(byText);
  }

  /** Resources of a group that the case defines: kube-apiserver tells them in the order of a Go map. */
  #areDefined(resources: readonly Json[]): boolean {
    return resources.some((item) => isRecord(item) && String(item['kind']).includes(this.#names.name));
  }

  /** Made by another case, which goes on meanwhile. */
  #ofOthers(item: Json): boolean {
    if (!isRecord(item)) return false;
    const object = isRecord(item['object']) ? item['object'] : item;
    const { namespace = '', name = '' } = isRecord(object['metadata'])
      ? (object['metadata'] as { namespace?: string; name?: string })
      : {};
    const own = [this.#names.ns, this.#names.name];
    return [namespace, name].some((text) => {
      const made = /(?:^|[-.])([fg]q[0-9a-z]{4})/.exec(text)?.[1];
      return made !== undefined && !own.some((mine) => mine.endsWith(made));
    });
  }

  /** In discovery: what no request of this case is about. */
  #foreignGroup(item: Json, key: string): boolean {
    if (!isRecord(item) || (key === 'items' && !Array.isArray(item['versions']))) return false;
    const name = String(isRecord(item['metadata']) ? item['metadata']['name'] : item['name']);
    return isForeign(name) && !name.startsWith(this.#names.name);
  }

  #cell(cell: Json, column: string): Json {
    const ages = ['Age', 'Last Schedule', 'Last Seen', 'First Seen', 'Duration', 'Created At'];
    if (ages.includes(column) && typeof cell === 'string' && /^(\d+[smhdy])+$/.test(cell)) return '<age>';
    return this.#walk(cell, 'cell', []);
  }

  #text(value: string, key: string, path: readonly string[]): string {
    if (value === '') return value;
    if (key === 'resourceVersion') return this.#label('rv', value);
    if (key === 'continue') return '<continue>';
    // Whose they are, is asked where it matters: requests of one case are of several.
    if (key.startsWith('x-kubernetes-pf-')) return /^[0-9a-f-]{36}$/.test(value) ? '<uid>' : value;
    if (key === 'uid' && /^[0-9a-f-]{36}$/.test(value)) return this.#label('uid', value);
    if (key === 'username' && path.includes('spec')) return '<user>';
    if (key === 'token') return '<token>';
    if (/^clusterIPs?(\[\])?$/.test(key) && /^(10|198\.18)\./.test(value)) return '<ip>';
    if (key === 'hash') return '<hash>';
    if (key === 'serverAddress' || key === 'jwks_uri') return '<address>';
    if (['kid', 'x', 'y'].includes(key) && path.includes('keys[]')) return '<key>';
    return this.#plain(value);
  }

  #plain(value: string): string {
    return (
      value
        .replaceAll(this.#names.ns, '<ns>')
        .replaceAll(this.#names.name, '<name>')
        .replaceAll(this.#names.name.toUpperCase(), '<NAME>')
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) =>
          this.#label('uid', id),
        )
        .replaceAll(
          /20(2[6-9]|[3-9]\d)-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [-+]0000 UTC)?( m=[-+0-9.]+)?/g,
          '<time>',
        )
        .replaceAll(/\bresourceVersion: ?"?\d+"?/g, 'resourceVersion: <rv>')
        .replaceAll(/(\bresourceVersion\\?":\\?)"\d+/g, '$1"<rv>')
        // In an object that a message shows: their order is that of whole seconds.
        .replaceAll(/(\\*"managedFields\\*":)\[[^\]]*\]/g, '$1<managers>')
        .replaceAll(/\b10\.(0|9[6-9]|10\d|11[01])\.\d{1,3}\.\d{1,3}\b(\/\d\d\b)?/g, '<ip>')
        .replaceAll(/127\.0\.0\.1:\d+/g, '<address>')
        .replaceAll('/clusters/root:fidelity/', '/')
        .replaceAll(/\?hash=[0-9A-Za-z%_-]+/g, '?hash=<hash>')
        .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=\b)/g, '-<rand>')
    );
  }

  /** Only whether it is known: after a request that one server refused, numbers would differ for ever. */
  #label(kind: string, value: string): string {
    const known = this.#seen.has(`${kind} ${value}`);
    this.#seen.add(`${kind} ${value}`);
    return known ? `<${kind}, known>` : `<${kind}, new>`;
  }
}

function byText(a: Json, b: Json): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

function isComponent(item: Json): boolean {
  return JSON.stringify(item).includes('"controller-manager"');
}

function isPort(value: Json, key: string): boolean {
  return (
    (key === 'nodePort' || key === 'healthCheckNodePort') &&
    typeof value === 'number' &&
    value >= 30000 &&
    value <= 33_000
  );
}

/** Its resourceVersion is the store's, which other cases move on; so is a bookmark's. */
function isCollection(object: Record<string, unknown>): boolean {
  if (Array.isArray(object['items'] ?? object['rows'])) return true;
  const annotations = (object['metadata'] as Record<string, unknown>)['annotations'];
  const ends = isRecord(annotations) && 'k8s.io/initial-events-end' in annotations;
  return ends || /^(Table|[A-Z]\w*List)$/.test(String(object['kind'] ?? ''));
}

function isTable(value: Record<string, unknown>): boolean {
  return value['kind'] === 'Table' && Array.isArray(value['columnDefinitions']);
}

/** The column that only Atoll has, last and for the wide page: what it says is put beside, and the rest compared. */
function clustersAside(table: Record<string, unknown>): Record<string, unknown> {
  const { columnDefinitions: columns, rows } = table;
  const list = (rows ?? []) as { cells: Json[] }[];
  return {
    ...table,
    ...(Array.isArray(columns) && { columnDefinitions: columns.slice(0, -1) }),
    ...(rows !== null && { rows: list.map((row) => ({ ...row, cells: row.cells.slice(0, -1) })) }),
    clusters: [...new Set(list.map(({ cells }) => cells.at(-1)))].join(),
  };
}

function columnNames(table: Record<string, unknown>): string[] {
  return (table['columnDefinitions'] as { name?: string }[]).map((column) => column.name ?? '');
}

/** Kubernetes' controllers do not run beside the kube-apiserver that is compared with; Atoll's cannot be stopped. */
function madeByControllers(item: Json): boolean {
  if (!isRecord(item)) return false;
  const object = isRecord(item['object']) ? item['object'] : item;
  const meta = isRecord(object['metadata']) ? object['metadata'] : undefined;
  if (meta?.['name'] === 'kube-root-ca.crt') return true;
  const cells = item['cells'];
  if (Array.isArray(cells) && cells[0] === 'kube-root-ca.crt') return true;
  return false;
}

/**
 * Of a watch, what comes when it comes: bookmarks, but for the one that ends the initial events, and the steps in
 * which a definition's objects are taken away.
 */
function withoutTimers(tree: Json): Json {
  if (!Array.isArray(tree)) return tree;
  return tree.filter((event) => {
    if (!isRecord(event)) return true;
    const text = JSON.stringify(event['object'], (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    if (event['type'] === 'BOOKMARK') return text.includes('initial-events-end');
    const ending = text.includes('"deletionTimestamp"') && text.includes('"customresourcecleanup.');
    return event['type'] !== 'MODIFIED' || !ending;
  });
}
