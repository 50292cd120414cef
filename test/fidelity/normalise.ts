import { isObject, setOwn } from '../../kube/deep.ts';
import { decodeJson } from '../../kube/json.ts';
import type { Json } from '../../kube/object.ts';
import { decodeProtobuf } from '../../kube/protobuf/codec.ts';
import { isProtobuf } from '../../kube/protobuf/envelope.ts';
import { decodeYaml } from '../../kube/yaml.ts';
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
];

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
    const tree = withoutBookmarks(treeOf(String(headers['content-type'] ?? ''), answer.body));
    if (isOpenApi(tree)) {
      return { status: answer.status, headers: kept, layout: '', body: plainOpenApi(tree) };
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
    if (!isObject(value)) return isPort(value, key) ? '<nodeport>' : value;
    const at = [...path, key];
    const copy: { [key: string]: Json } = {};
    if (isTable(value)) this.#columns.splice(0, Infinity, ...columnNames(value));
    const object = value as { [key: string]: Json };
    const isList = isObject(object['metadata']) && Array.isArray(object['items'] ?? object['rows']);
    for (const [name, item] of Object.entries(object)) {
      if (key === 'paths' && isForeign(/^apis\/([^/]+)/.exec(name)?.[1])) continue;
      if (isList && name === 'metadata' && isObject(item)) {
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
    if (isObject(meta) && meta['continue']) meta['continue'] = '<continue>';
  }

  #list(value: Json[], key: string, path: readonly string[]): Json {
    if (key === 'cells') return value.map((cell, i) => this.#cell(cell, this.#columns[i] ?? ''));
    const listed = ['items', 'rows', 'groups'].includes(key);
    const items = listed
      ? value.filter((item) => !madeByControllers(item) && !this.#foreignGroup(item, key))
      : value;
    const walked = items.map((item) => this.#walk(item, key === 'warning' ? key : `${key}[]`, path));
    // Owners come in order of their times, which are whole seconds: the order that is left is chance.
    if (key !== 'causes' && key !== 'managedFields') return walked;
    return walked.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }

  /** In discovery: what no request of this case is about. */
  #foreignGroup(item: Json, key: string): boolean {
    if (!isObject(item) || (key === 'items' && !Array.isArray(item['versions']))) return false;
    const name = String(isObject(item['metadata']) ? item['metadata']['name'] : item['name']);
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
    if (key === 'uid' && /^[0-9a-f-]{36}$/.test(value)) return this.#label('uid', value);
    if (key === 'username' && path.includes('spec')) return '<user>';
    if (key === 'token') return '<token>';
    if (/^clusterIPs?(\[\])?$/.test(key) && value.startsWith('10.')) return '<ip>';
    if (key === 'hash') return '<hash>';
    if (key === 'serverAddress') return '<address>';
    return this.#plain(value);
  }

  #plain(value: string): string {
    return value
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
      .replaceAll(/\b10\.(0|96)\.\d{1,3}\.\d{1,3}\b/g, '<ip>')
      .replaceAll(/127\.0\.0\.1:\d+/g, '<address>')
      .replaceAll('/clusters/root:fidelity/', '/')
      .replaceAll(/\?hash=[0-9A-Za-z%_-]+/g, '?hash=<hash>')
      .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=\b)/g, '-<rand>');
  }

  /** Only whether it is known: after a request that one server refused, numbers would differ for ever. */
  #label(kind: string, value: string): string {
    const known = this.#seen.has(`${kind} ${value}`);
    this.#seen.add(`${kind} ${value}`);
    return known ? `<${kind}, known>` : `<${kind}, new>`;
  }
}

function isPort(value: Json, key: string): boolean {
  return (
    (key === 'nodePort' || key === 'healthCheckNodePort') &&
    typeof value === 'number' &&
    value >= 30000 &&
    value <= 33_000
  );
}

function isTable(value: Record<string, unknown>): boolean {
  return value['kind'] === 'Table' && Array.isArray(value['columnDefinitions']);
}

function columnNames(table: Record<string, unknown>): string[] {
  return (table['columnDefinitions'] as { name?: string }[]).map((column) => column.name ?? '');
}

/** Kubernetes' controllers do not run beside the kube-apiserver that is compared with; Atoll's cannot be stopped. */
function madeByControllers(item: Json): boolean {
  if (!isObject(item)) return false;
  const object = isObject(item['object']) ? item['object'] : item;
  const meta = isObject(object['metadata']) ? object['metadata'] : undefined;
  if (meta?.['name'] === 'kube-root-ca.crt') return true;
  const cells = item['cells'];
  if (Array.isArray(cells) && cells[0] === 'kube-root-ca.crt') return true;
  return false;
}

/** When a bookmark comes is a matter of timers, but for the one that ends the initial events. */
function withoutBookmarks(tree: Json): Json {
  if (!Array.isArray(tree)) return tree;
  return tree.filter(
    (event) =>
      !isObject(event) ||
      event['type'] !== 'BOOKMARK' ||
      JSON.stringify(event['object']).includes('initial-events-end'),
  );
}

function layoutOf(text: string): string {
  if (!text.startsWith('{') && !text.startsWith('[')) return '';
  const first = text.indexOf('\n');
  const form = first >= 0 && first < text.length - 1 && text[first + 1] === ' ' ? 'indented' : 'compact';
  return text.endsWith('\n') ? `${form}, newline` : form;
}

/** JSON, YAML, protobuf or a stream of either, as one tree; other text as it is. */
function treeOf(type: string, body: Buffer): Json {
  if (body.length === 0) return '';
  try {
    if (type.startsWith('application/json')) return jsonOf(body);
    if (type.startsWith('application/yaml')) return decodeYaml(body.toString('utf8')).value;
    if (type.startsWith('application/vnd.kubernetes.protobuf')) return protobufOf(type, body);
  } catch (error) {
    return `unreadable: ${error instanceof Error ? error.message : String(error)}: ${body.toString('latin1').slice(0, 200)}`;
  }
  // The index of OpenAPI documents has no type of its own.
  if (type.startsWith('text/plain') && body[0] === 0x7b) return jsonOf(body);
  return type.startsWith('text/') || type === ''
    ? body.toString('utf8')
    : `${body.length > 0 ? 'bytes' : ''}`;
}

function jsonOf(body: Buffer): Json {
  const text = body.toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length > 1 && lines.every((line) => line.startsWith('{"type":'))) {
    return lines.map((line) => decodeJson(Buffer.from(line)).value);
  }
  return lines.length === 1 && text.startsWith('{"type":')
    ? [decodeJson(body).value]
    : decodeJson(body).value;
}

function protobufOf(type: string, body: Buffer): Json {
  if (!type.includes('stream=watch')) return decodeProtobuf(body) as unknown as Json;
  const events: Json[] = [];
  for (let at = 0; at + 4 <= body.length; ) {
    const length = body.readUInt32BE(at);
    events.push(watchEvent(body.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return events;
}

/** metav1.WatchEvent: type=1, object=2 (RawExtension: raw=1). */
function watchEvent(frame: Buffer): Json {
  const start = frame.indexOf(Buffer.from([0x6b, 0x38, 0x73, 0]));
  const type = frame.subarray(2, 2 + (frame[1] ?? 0)).toString();
  if (start < 0) return { type, object: null };
  const raw = frame.subarray(start);
  return { type, object: isProtobuf(raw) ? (decodeProtobuf(raw) as unknown as Json) : null };
}
