import { formatApiVersion, type GroupVersion, type GroupVersionKind } from '../gvk.ts';
import type { Json, JsonObject } from '../object.ts';
import type { ResourceInfo, SubresourceInfo } from '../schema/resource.ts';
import { showsDeleted } from '../strategy/deleted.ts';
import type { Dialect } from './definition.ts';

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const produced = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

/** What an operation needs to know of its resource. */
export interface Target {
  readonly resource: ResourceInfo;
  /** Names the definition of a kind. */
  readonly nameOf: (gvk: GroupVersionKind) => string | undefined;
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
    const entries = operations.map(([verb, method]) => [method, builder.operation(verb, method, variant)]);
    paths[path] = {
      ...Object.fromEntries(entries),
      parameters: names.map((name) => builder.parameter(name)),
    };
  };
  const within = namespaced ? ['namespace'] : [];
  add(`${scope}/${resource.resource}`, collection, within);
  if (namespaced) add(`${root}/${resource.resource}`, pick(verbs, { list: 'get' }), [], { everywhere: true });
  add(`${scope}/${resource.resource}/{name}`, one, ['name', ...within]);
  for (const sub of resource.subresources) {
    const operations = pick(sub.verbs, {
      get: 'get',
      update: 'put',
      patch: 'patch',
      create: 'post',
      delete: 'delete',
    });
    add(`${scope}/${resource.resource}/{name}/${sub.name}`, operations, ['name', ...within], { sub });
  }
  return paths;
}

/** The path that lists the resources of a group version. */
export function rootPath(gv: GroupVersion, dialect: Dialect): JsonObject {
  const schema = { $ref: `${dialect.prefix}${meta}.APIResourceList` };
  const content = Object.fromEntries(produced.map((type) => [type, { schema }]));
  const answer = dialect.version === 2 ? { schema } : { content };
  const operation = {
    description: 'list the resources',
    tags: [tagOf(gv)],
    operationId: `get${upper([...groupWords(gv), 'API', 'resources'])}`,
    ...(dialect.version === 2 && { consumes: produced, produces: produced, schemes: ['https'] }),
    responses: { '200': { description: 'OK', ...answer }, '401': { description: 'Unauthorized' } },
  };
  return { [`${rootOf(gv)}/`]: { get: operation } };
}

function rootOf(gv: GroupVersion): string {
  return `${gv.group === '' ? '/api' : '/apis'}/${formatApiVersion(gv)}`;
}

function pick(verbs: readonly string[], methods: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(methods).filter(([verb]) => verbs.includes(verb));
}

const unsafeDelete = 'ignoreStoreReadErrorWithClusterBreakingPotential';
const queries: Readonly<Record<string, readonly string[]>> = {
  list: [
    'allowWatchBookmarks',
    'continue',
    'fieldSelector',
    'labelSelector',
    'limit',
    'resourceVersion',
    'resourceVersionMatch',
    'sendInitialEvents',
    'shardSelector',
    'timeoutSeconds',
    'watch',
  ],
  create: ['dryRun', 'fieldManager', 'fieldValidation'],
  update: ['dryRun', 'fieldManager', 'fieldValidation'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: ['dryRun', 'gracePeriodSeconds', unsafeDelete, 'orphanDependents', 'propagationPolicy'],
  deletecollection: [
    'continue',
    'dryRun',
    'fieldSelector',
    'gracePeriodSeconds',
    unsafeDelete,
    'labelSelector',
    'limit',
    'orphanDependents',
    'propagationPolicy',
    'resourceVersion',
    'resourceVersionMatch',
    'sendInitialEvents',
    'shardSelector',
    'timeoutSeconds',
  ],
};
const types: Readonly<Record<string, string>> = {
  allowWatchBookmarks: 'boolean',
  force: 'boolean',
  gracePeriodSeconds: 'integer',
  [unsafeDelete]: 'boolean',
  limit: 'integer',
  orphanDependents: 'boolean',
  sendInitialEvents: 'boolean',
  timeoutSeconds: 'integer',
  watch: 'boolean',
};
const actions: Readonly<Record<string, string>> = { create: 'post', update: 'put' };
const words: Readonly<Record<string, string>> = {
  get: 'read',
  update: 'replace',
  deletecollection: 'delete all',
};

/** Which of a resource's paths an operation is for. */
interface Variant {
  readonly sub?: SubresourceInfo | undefined;
  /** All namespaces of a namespaced resource. */
  readonly everywhere?: boolean;
  /** It opens a connection: exec, proxy. */
  readonly connect?: boolean;
}

class Operations {
  readonly #target: Target;
  readonly #dialect: Dialect;

  constructor(target: Target, dialect: Dialect) {
    this.#target = target;
    this.#dialect = dialect;
  }

  operation(verb: string, method: string, { sub, everywhere = false }: Variant): JsonObject {
    const { resource } = this.#target;
    const of = sub ?? resource;
    const connect = of.kind.endsWith('Options');
    const response = connect || sub?.name === 'log' ? undefined : this.#responseName(verb, of);
    const body = this.#body(verb, of, connect);
    const parameters: Json[] = (connect ? [] : [...(queries[verb] ?? []), 'pretty']).map((name) =>
      this.parameter(name, 'query'),
    );
    const two = this.#dialect.version === 2;
    if (two && body !== undefined)
      parameters.unshift({
        ...{ name: 'body', in: 'body' },
        ...(!verb.startsWith('delete') && { required: true }),
        schema: body,
      });
    return {
      description: `${words[verb] ?? verb} ${sub ? `${sub.name} of ` : ''}${resource.kind}`,
      tags: [tagOf(resource)],
      operationId: operationId(verb, method, resource, { sub, connect, everywhere }),
      ...(parameters.length > 0 && { parameters }),
      ...(two
        ? {
            consumes: verb === 'patch' ? this.#patchTypes() : ['*/*'],
            produces: this.#produced(verb, response),
            schemes: ['https'],
          }
        : body !== undefined && { requestBody: this.#requestBody(verb, body) }),
      responses: this.#responses(response, verb),
      'x-kubernetes-action': connect
        ? 'connect'
        : (actions[verb] ?? (method === 'get' && verb === 'list' ? 'list' : verb)),
      'x-kubernetes-group-version-kind': { group: of.group, version: of.version, kind: of.kind },
    };
  }

  parameter(name: string, where = 'path'): JsonObject {
    const type = types[name] ?? 'string';
    const head = { name, in: where, ...(where === 'path' && { required: true }) };
    if (this.#dialect.version === 2) return { ...head, type, uniqueItems: true };
    return { ...head, schema: { type, uniqueItems: true } };
  }

  #ref(name: string): JsonObject {
    return { $ref: this.#dialect.prefix + name };
  }

  #responseName(verb: string, of: GroupVersionKind): string | undefined {
    const gone =
      verb === 'delete' && showsDeleted(this.#target.resource) && of.kind === this.#target.resource.kind;
    if (!gone && verb.startsWith('delete')) return `${meta}.Status`;
    return this.#target.nameOf(verb === 'list' ? { ...of, kind: `${of.kind}List` } : of);
  }

  #body(verb: string, of: GroupVersionKind, connect: boolean): JsonObject | undefined {
    if (connect) return undefined;
    if (verb === 'patch') return this.#ref(`${meta}.Patch`);
    if (verb === 'delete' || verb === 'deletecollection') return this.#ref(`${meta}.DeleteOptions`);
    const name = verb === 'create' || verb === 'update' ? this.#target.nameOf(of) : undefined;
    return name === undefined ? undefined : this.#ref(name);
  }

  #patchTypes(): string[] {
    const strategic = this.#target.builtin ? ['application/strategic-merge-patch+json'] : [];
    return [
      ...['application/json-patch+json', 'application/merge-patch+json'],
      ...strategic,
      'application/apply-patch+yaml',
    ];
  }

  #requestBody(verb: string, schema: JsonObject): JsonObject {
    const accepted = verb === 'patch' ? this.#patchTypes() : ['*/*'];
    const content = Object.fromEntries(accepted.map((type) => [type, { schema }]));
    return { content, ...(!verb.startsWith('delete') && { required: true }) };
  }

  #produced(verb: string, name: string | undefined): string[] {
    if (name === undefined) return ['*/*'];
    if (!this.#target.builtin) return produced.slice(0, 2);
    return verb === 'list' ? [...produced, ...streams] : produced;
  }

  #responses(name: string | undefined, verb: string): JsonObject {
    const schema = name === undefined ? { type: 'string' } : this.#ref(name);
    const offered = this.#produced(verb, name);
    const content = Object.fromEntries(offered.map((type) => [type, { schema }]));
    const answer = this.#dialect.version === 2 ? { schema } : { content };
    const ok = { '200': { description: 'OK', ...answer } };
    const created = { '201': { description: 'Created', ...answer } };
    const accepted = { '202': { description: 'Accepted', ...answer } };
    return {
      ...ok,
      ...(name !== undefined && ['create', 'update', 'patch'].includes(verb) && created),
      ...(name !== undefined && ['create', 'delete'].includes(verb) && accepted),
      '401': { description: 'Unauthorized' },
    };
  }
}

function groupWords({ group, version }: GroupVersion): string[] {
  const name = group === '' ? 'core' : group.replace(/\.k8s\.io$/, '');
  return [...name.split(/[.-]/), version];
}

/** `core_v1`, `flowcontrolApiserver_v1` */
function tagOf(gv: GroupVersion): string {
  const [first = '', ...rest] = groupWords(gv).slice(0, -1);
  return `${first}${upper(rest)}_${gv.version}`;
}

function upper(words: readonly string[]): string {
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

/** `patchAppsV1NamespacedDeploymentScale`, `listCoreV1PodForAllNamespaces`, `connectCoreV1GetNamespacedPodExec` */
function operationId(verb: string, method: string, resource: ResourceInfo, of: Variant): string {
  const { sub, connect, everywhere } = of;
  const scope = resource.namespaced && !everywhere ? ['Namespaced'] : [];
  const tail = [
    ...scope,
    resource.kind,
    ...(sub ? [sub.name] : []),
    ...(everywhere ? ['ForAllNamespaces'] : []),
  ];
  const group = groupWords(resource);
  if (connect) return `connect${upper([...group, method, ...tail])}`;
  if (verb === 'deletecollection') return `delete${upper([...group, 'Collection', ...tail])}`;
  return (words[verb] ?? verb) + upper([...group, ...tail]);
}
