import { formatApiVersion, type GroupVersion, type GroupVersionKind } from '../gvk.ts';
import type { JsonObject } from '../object.ts';
import { type GoStruct, kindOf, structNamed, structOf } from '../schema/go.ts';
import type { ResourceInfo } from '../schema/resource.ts';
import { type CustomKind, customDefinition, customList, customName, listKindOf } from './custom.ts';
import { type Dialect, definitionOf } from './definition.ts';
import { pathsOf } from './operations.ts';
import { clientVersions, registeredVersions } from './registered.ts';
import { type Root, resourcesRoot } from './roots.ts';
import { meta } from './words.ts';

/** Answers what is known of a kind that is not built in; undefined for built-in kinds. */
export type SchemaFor = (gvk: GroupVersionKind) => CustomKind | undefined;

/** Kinds that belong to every group version that has objects. */
const shared = new Set([`${meta}.DeleteOptions`, `${meta}.WatchEvent`]);
/** Kinds that a verb takes or gives whatever the resource. */
const bodies = { delete: ['DeleteOptions', 'Status'], patch: ['Patch'], watch: ['WatchEvent'] };
const gvkWord = 'x-kubernetes-group-version-kind';

/** The paths and definitions that `resources` need, whichever group versions they are of. */
export class Parts {
  readonly paths: JsonObject = {};
  readonly definitions: JsonObject = {};
  readonly #dialect: Dialect;
  readonly #schemaFor: SchemaFor;
  readonly #pending = new Set<GoStruct>();
  readonly #kinds = new Map<string, GroupVersionKind[]>();
  readonly #versions = new Map<string, GroupVersion>();

  constructor(
    resources: readonly ResourceInfo[],
    schemaFor: SchemaFor,
    dialect: Dialect,
    roots: readonly Root[] = [],
  ) {
    this.#dialect = dialect;
    this.#schemaFor = schemaFor;
    for (const resource of resources) this.#addResource(resource);
    for (const root of roots) this.#addRoot(root);
    this.#addStructs();
    this.#markKinds();
  }

  #addResource(resource: ResourceInfo): void {
    const { group, version } = resource;
    const builtin = this.#schemaFor(resource) === undefined;
    this.#addVersion({ group, version }, builtin);
    for (const [verb, kinds] of Object.entries(bodies)) {
      // Custom resources have no watch paths of their own.
      if (verb === 'watch' && !builtin) continue;
      if (resource.verbs.includes(verb)) for (const kind of kinds) this.#addMeta(kind);
    }
    const target = {
      resource,
      nameOf: (gvk: GroupVersionKind) => this.#nameOf(gvk),
      listNameOf: (gvk: GroupVersionKind) => this.#listNameOf(gvk),
      builtin,
    };
    Object.assign(this.paths, pathsOf(target, this.#dialect));
    const custom = this.#schemaFor(resource);
    if (custom === undefined) this.#nameOf(resource);
    else this.#addCustom(resource, custom);
  }

  #addVersion(gv: GroupVersion, builtin: boolean): void {
    const name = formatApiVersion(gv);
    if (this.#versions.has(name)) return;
    if (!builtin) return;
    this.#versions.set(name, gv);
    this.#addRoot(resourcesRoot(gv, this.#dialect));
  }

  #addRoot({ path, operation, definition }: Root): void {
    this.paths[path] = { get: operation };
    const struct = definition === undefined ? undefined : structNamed(definition);
    if (struct !== undefined) this.#pending.add(struct);
  }

  #addMeta(kind: string): void {
    const struct = structNamed(`${meta}.${kind}`);
    if (struct !== undefined) this.#pending.add(struct);
  }

  /** Names a kind's definition and sees to it that the document has it. */
  #nameOf(gvk: GroupVersionKind): string | undefined {
    if (this.#schemaFor(gvk) !== undefined) return customName(gvk);
    const struct = structOf(gvk.group, gvk.version, gvk.kind) ?? structNamed(`${meta}.${gvk.kind}`);
    if (struct === undefined) return undefined;
    this.#pending.add(struct);
    const { group, version, kind } = gvk;
    if (struct.name.startsWith(`${meta}.`)) {
      if (struct.typed && !shared.has(struct.name))
        this.#mark(struct.name, { group: '', version: 'v1', kind });
    } else this.#mark(struct.name, { group, version, kind });
    return struct.name;
  }

  #listNameOf(gvk: GroupVersionKind): string | undefined {
    const custom = this.#schemaFor(gvk);
    if (custom === undefined) return this.#nameOf({ ...gvk, kind: `${gvk.kind}List` });
    return customName({ ...gvk, kind: listKindOf(gvk, custom) });
  }

  #addCustom(resource: ResourceInfo, custom: CustomKind): void {
    const { group, version, kind } = resource;
    const list = { group, version, kind: listKindOf(resource, custom) };
    const [name, listName] = [customName(resource), customName(list)];
    this.definitions[name] = customDefinition(custom, this.#dialect);
    this.definitions[listName] = customList(resource, resource.resource, custom, this.#dialect);
    this.#mark(name, { group, version, kind });
    this.#mark(listName, list);
    this.#addMeta('ObjectMeta');
    this.#addMeta('ListMeta');
  }

  #mark(name: string, { group, version, kind }: GroupVersionKind): void {
    const known = this.#kinds.get(name) ?? [];
    if (!known.some((k) => k.group === group && k.version === version && k.kind === kind)) {
      known.push({ group, kind, version });
    }
    this.#kinds.set(name, known);
  }

  #addStructs(): void {
    // A Set iterates over what is added on the way: each definition adds those that it refers to.
    for (const struct of this.#pending) {
      this.definitions[struct.name] = definitionOf(struct, this.#dialect, this.#pending);
      const gvk = kindOf(struct);
      if (gvk?.group === 'meta.k8s.io') this.#mark(struct.name, { ...gvk, group: '' });
      else if (gvk !== undefined) this.#mark(struct.name, gvk);
    }
  }

  /** The versions whose kinds a document says that the shared ones are: all, but in one of a built-in version alone. */
  #sharing(): readonly GroupVersion[] {
    const served = [...this.#versions.values()];
    if (this.#dialect.version === 2) return registeredVersions(served);
    return served.length > 0 ? served : clientVersions();
  }

  #markKinds(): void {
    for (const name of shared) {
      const kind = name.slice(meta.length + 1);
      if (!Object.hasOwn(this.definitions, name)) continue;
      this.#mark(name, { group: '', version: 'v1', kind });
      for (const gv of this.#sharing()) this.#mark(name, { ...gv, kind });
    }
    for (const [name, kinds] of this.#kinds) {
      const definition = this.definitions[name];
      if (definition !== undefined) (definition as JsonObject)[gvkWord] = kinds.map((kind) => ({ ...kind }));
    }
  }
}
