import type { GroupVersionKind } from '../gvk.ts';
import type { Json, JsonObject } from '../object.ts';
import type { ResourceInfo, SubresourceInfo } from '../schema/resource.ts';
import { showsDeleted } from '../strategy/deleted.ts';
import type { Dialect } from './definition.ts';
import { customQueries, options, queries, typeOf } from './parameters.ts';
import { pathItem } from './path-item.ts';
import { encodings, groupWords, meta, rootOf, tagOf, upper } from './words.ts';

const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

/** What an operation needs to know of its resource. */
export interface Target {
  readonly resource: ResourceInfo;
  /** Names the definition of a kind. */
  readonly nameOf: (gvk: GroupVersionKind) => string | undefined;
  /** Of lists of it. */
  readonly listNameOf: (gvk: GroupVersionKind) => string | undefined;
  /** Strategic merge patch and protobuf are for built-in kinds only. */
  readonly builtin: boolean;
}

/** The paths of one resource: collection, object and subresources. */
export function pathsOf(target: Target, dialect: Dialect): JsonObject {
  const { resource } = target;
  const { verbs, namespaced } = resource;
  const root = rootOf(resource);
  const scope = namespaced ? `${root}/namespaces/{namespace}` : root;
  const builder = new Operations(target, dialect);
  const paths: JsonObject = {};
  const collection = pick(verbs, { list: 'get', create: 'post', deletecollection: 'delete' });
  const one = pick(verbs, { get: 'get', update: 'put', patch: 'patch', delete: 'delete' });
  const add = (path: string, operations: [string, string][], names: string[], variant: Variant = {}) => {
    if (operations.length === 0) return;
    const entries = operations.map(([verb, method]): [string, JsonObject] => [
      method,
      builder.operation(verb, method, variant),
    ]);
    paths[path] = pathItem(
      entries,
      names.map((name) => builder.parameter(name)),
    );
  };
  const within = namespaced ? ['namespace'] : [];
  const name = '{name}';
  const { resource: plural } = resource;
  add(`${scope}/${plural}`, collection, within);
  if (namespaced) add(`${root}/${plural}`, pick(verbs, { list: 'get' }), [], { everywhere: true });
  add(`${scope}/${plural}/${name}`, one, ['name', ...within]);
  if (target.builtin && verbs.includes('watch')) {
    const watched = scope.replace(root, `${root}/watch`);
    add(`${watched}/${plural}`, [['watchlist', 'get']], within);
    if (namespaced) add(`${root}/watch/${plural}`, [['watchlist', 'get']], [], { everywhere: true });
    if (verbs.includes('get')) add(`${watched}/${plural}/${name}`, [['watch', 'get']], ['name', ...within]);
  }
  for (const sub of resource.subresources) {
    const path = `${scope}/${plural}/${name}/${sub.name}`;
    const variant = { sub, connect: isConnect(sub) };
    const operations = isProxy(sub) ? proxied : pick(sub.verbs, methods);
    add(path, operations, ['name', ...within], variant);
    if (isProxy(sub))
      add(`${path}/{path}`, operations, ['name', ...within, 'path'], { ...variant, below: true });
  }
  return paths;
}

const methods = { get: 'get', update: 'put', patch: 'patch', create: 'post', delete: 'delete' };
const proxied = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'].map(
  (method): [string, string] => [method, method],
);

function isConnect(sub: SubresourceInfo): boolean {
  return sub.kind.endsWith('Options');
}

function isProxy(sub: SubresourceInfo): boolean {
  return sub.kind.endsWith('ProxyOptions');
}

function pick(verbs: readonly string[], methods: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(methods).filter(([verb]) => verbs.includes(verb));
}

const actions: Readonly<Record<string, string>> = { create: 'post', update: 'put' };
const words: Readonly<Record<string, string>> = {
  get: 'read',
  update: 'replace',
  deletecollection: 'delete all',
  watchlist: 'watch',
};

/** Which of a resource's paths an operation is for. */
interface Variant {
  readonly sub?: SubresourceInfo | undefined;
  /** All namespaces of a namespaced resource. */
  readonly everywhere?: boolean;
  /** It opens a connection: exec, proxy. */
  readonly connect?: boolean;
  /** Any path below it. */
  readonly below?: boolean;
}

class Operations {
  readonly #target: Target;
  readonly #dialect: Dialect;

  constructor(target: Target, dialect: Dialect) {
    this.#target = target;
    this.#dialect = dialect;
  }

  operation(verb: string, method: string, variant: Variant): JsonObject {
    const { sub, connect = false } = variant;
    const { resource } = this.#target;
    const of = sub ?? resource;
    const named = this.#target.builtin ? of : resource;
    const response = connect || sub?.name === 'log' ? undefined : this.#responseName(verb, of);
    const body = this.#body(verb, of, connect);
    const parameters: Json[] = this.#queries(verb, variant).map((name) => this.parameter(name, 'query'));
    const two = this.#dialect.version === 2;
    if (two && body !== undefined)
      parameters.unshift({
        name: 'body',
        in: 'body',
        ...(!verb.startsWith('delete') && { required: true }),
        schema: body,
      });
    const produced = this.#produced(verb, response, sub);
    return {
      description: `${words[verb] ?? verb} ${sub ? `${sub.name} of ` : ''}${resource.kind}`,
      tags: [tagOf(resource)],
      operationId: operationId(verb, method, resource, variant),
      ...(parameters.length > 0 && { parameters }),
      ...(two
        ? {
            consumes: this.#consumed(verb, connect),
            produces: produced,
            schemes: ['https'],
          }
        : body !== undefined && { requestBody: this.#requestBody(verb, body) }),
      responses: this.#responses(response, verb, produced),
      'x-kubernetes-action': connect ? 'connect' : (actions[verb] ?? verb),
      'x-kubernetes-group-version-kind': kindOnly(named),
    };
  }

  #queries(verb: string, { sub, connect }: Variant): readonly string[] {
    if (connect && sub) return options[sub.kind] ?? [];
    if (sub?.name === 'log') return options['PodLogOptions'] ?? [];
    return [...((this.#target.builtin ? queries : customQueries)[verb] ?? []), 'pretty'];
  }

  parameter(name: string, where = 'path'): JsonObject {
    const type = typeOf(name);
    const head = { name, in: where, ...(where === 'path' && { required: true }) };
    if (this.#dialect.version === 2) return { ...head, type, uniqueItems: true };
    return { ...head, schema: { type, uniqueItems: true } };
  }

  #ref(name: string): JsonObject {
    return { $ref: this.#dialect.prefix + name };
  }

  #responseName(verb: string, of: GroupVersionKind): string | undefined {
    if (verb.startsWith('watch')) return `${meta}.WatchEvent`;
    const { resource } = this.#target;
    // A Namespace is shown too, but what is published of it does not say so.
    const gone =
      verb === 'delete' &&
      showsDeleted(resource) &&
      of.kind === resource.kind &&
      resource.resource !== 'namespaces';
    if (!gone && verb.startsWith('delete')) return `${meta}.Status`;
    return verb === 'list' ? this.#target.listNameOf(of) : this.#target.nameOf(of);
  }

  #body(verb: string, of: GroupVersionKind, connect: boolean): JsonObject | undefined {
    if (connect || (verb === 'deletecollection' && !this.#target.builtin)) return undefined;
    if (verb === 'patch') return this.#ref(`${meta}.Patch`);
    if (verb === 'delete' || verb === 'deletecollection') return this.#ref(`${meta}.DeleteOptions`);
    const name = verb === 'create' || verb === 'update' ? this.#target.nameOf(of) : undefined;
    return name === undefined ? undefined : this.#ref(name);
  }

  #consumed(verb: string, connect: boolean): string[] {
    if (verb === 'patch' && !connect) return this.#patchTypes();
    return this.#target.builtin ? ['*/*'] : encodings.slice(0, 2);
  }

  #patchTypes(): string[] {
    const strategic = this.#target.builtin ? ['application/strategic-merge-patch+json'] : [];
    return [
      'application/json-patch+json',
      'application/merge-patch+json',
      ...strategic,
      'application/apply-patch+yaml',
    ];
  }

  #requestBody(verb: string, schema: JsonObject): JsonObject {
    const content = Object.fromEntries(this.#consumed(verb, false).map((type) => [type, { schema }]));
    return { content, ...(!verb.startsWith('delete') && { required: true }) };
  }

  #produced(verb: string, name: string | undefined, sub: SubresourceInfo | undefined): string[] {
    if (sub?.name === 'log') return ['text/plain', ...encodings];
    if (name === undefined) return ['*/*'];
    if (!this.#target.builtin) return encodings.slice(0, 2);
    return verb === 'list' || verb.startsWith('watch') ? [...encodings, ...streams] : encodings;
  }

  #responses(name: string | undefined, verb: string, offered: readonly string[]): JsonObject {
    const schema = name === undefined ? { type: 'string' } : this.#ref(name);
    const content = Object.fromEntries(offered.map((type) => [type, { schema }]));
    const answer = this.#dialect.version === 2 ? { schema } : { content };
    const ok = { '200': { description: 'OK', ...answer } };
    const created = { '201': { description: 'Created', ...answer } };
    const accepted = { '202': { description: 'Accepted', ...answer } };
    const creating = this.#target.builtin ? ['create', 'update', 'patch'] : ['create', 'update'];
    return {
      ...ok,
      ...(name !== undefined && creating.includes(verb) && created),
      ...(name !== undefined && ['create', 'delete'].includes(verb) && accepted),
      '401': { description: 'Unauthorized' },
    };
  }
}

function kindOnly({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}

/** `patchAppsV1NamespacedDeploymentScale`, `listCoreV1PodForAllNamespaces`, `connectCoreV1GetNamespacedPodExec` */
function operationId(verb: string, method: string, resource: ResourceInfo, of: Variant): string {
  const { sub, connect, everywhere, below } = of;
  const scope = resource.namespaced && !everywhere ? ['Namespaced'] : [];
  const tail = [
    ...scope,
    verb === 'watchlist' ? `${resource.kind}List` : resource.kind,
    ...(sub ? [sub.name] : []),
    ...(everywhere ? ['ForAllNamespaces'] : []),
    ...(below ? ['WithPath'] : []),
  ];
  const group = groupWords(resource);
  if (connect) return `connect${upper([...group, method, ...tail])}`;
  if (verb === 'deletecollection') return `delete${upper([...group, 'Collection', ...tail])}`;
  return (words[verb] ?? verb) + upper([...group, ...tail]);
}
