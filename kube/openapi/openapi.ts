import { createHash } from 'node:crypto';
import { formatApiVersion, type GroupVersion } from '../gvk.ts';
import type { JsonObject } from '../object.ts';
import { builtinResources } from '../schema/builtin.ts';
import type { ResourceInfo } from '../schema/resource.ts';
import { type Addition, hashWith, withAddition } from './addition.ts';
import { openapi3, swagger } from './definition.ts';
import { Parts, type SchemaFor } from './document.ts';
import { encodeSwagger } from './gnostic.ts';
import { encodeOpenApi3 } from './gnostic3.ts';
import { type Root, serverRoots } from './roots.ts';

/** A document as it is sent; `hash` is the SHA-512 of its bytes in capitals, fit for `?hash=` and ETag. */
export interface OpenApiDocument {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

/** A document that somebody else has, below /openapi/v3. */
export interface OtherPath {
  readonly path: string;
  /** Empty: it has none. */
  readonly hash: string;
}

const info = { title: 'Kubernetes', version: '1.36' };
/** Of the documents of custom resources. */
const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };
const bearer = {
  type: 'apiKey',
  description: 'Bearer Token authentication',
  name: 'authorization',
  in: 'header',
};
const noSchemas: SchemaFor = () => undefined;

/** `api/v1`, `apis/apps/v1`: the path below /openapi/v3. */
export function openapiPath(gv: GroupVersion): string {
  return `${gv.group === '' ? 'api' : 'apis'}/${formatApiVersion(gv)}`;
}

/** The OpenAPI 3 document of one group version. */
export function openapiV3Document(
  gv: GroupVersion,
  resources: readonly ResourceInfo[],
  schemaFor: SchemaFor = noSchemas,
): JsonObject {
  const own = resources.filter((r) => r.group === gv.group && r.version === gv.version);
  const parts = new Parts(own, schemaFor, openapi3);
  if (own.some((r) => schemaFor(r) === undefined)) return v3Document(parts);
  const components = { schemas: sorted(parts.definitions) };
  return { openapi: '3.0.0', info: customInfo, paths: sorted(parts.paths), components };
}

function v3Document({ paths, definitions }: Parts): JsonObject {
  const schemas = Object.keys(definitions).length === 0 ? {} : { schemas: sorted(definitions) };
  const components = { ...schemas, securitySchemes: { BearerToken: bearer } };
  return { openapi: '3.0.0', info, paths: sorted(paths), components };
}

const builtinSet = new Set(builtinResources);

/** Groups that a kind of `resources` is built into: those of other kinds have no path of their own. */
function builtinGroups(resources: readonly ResourceInfo[]): string[] {
  return [...new Set(resources.filter((r) => builtinSet.has(r)).map(({ group }) => group))];
}

function rootDocument(root: Root): JsonObject {
  return v3Document(new Parts([], noSchemas, openapi3, [root]));
}

/** The OpenAPI 2 document of all resources. */
export function openapiV2(resources: readonly ResourceInfo[], schemaFor: SchemaFor = noSchemas): JsonObject {
  const roots = serverRoots(builtinGroups(resources), swagger);
  const parts = new Parts(resources, schemaFor, swagger, roots);
  return {
    swagger: '2.0',
    info,
    paths: sorted(parts.paths),
    definitions: sorted(parts.definitions),
    securityDefinitions: { BearerToken: bearer },
    security: [{ BearerToken: [] }],
  };
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function document(bytes: Uint8Array): OpenApiDocument {
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

function jsonDocument(value: JsonObject): OpenApiDocument {
  return document(Buffer.from(JSON.stringify(value)));
}

let builtinNames: ReadonlySet<string> | undefined;

/** Of OpenAPI 2: what the definitions of built-in kinds, and of what all kinds have, are called. */
export function builtinDefinitions(): ReadonlySet<string> {
  const namesOf = (document: JsonObject) => Object.keys(document['definitions'] as JsonObject);
  builtinNames ??= new Set(namesOf(openapiV2(builtinResources)));
  return builtinNames;
}

/** Documents of built-in group versions, which are the same for every logical cluster. */
const builtinDocuments = new Map<string, OpenApiDocument>();
let builtinSwagger: Uint8Array | undefined;

/**
 * The documents of one set of resources; each is built when first asked for. Make a new one when the set or a
 * schema changes.
 */
export class OpenApi {
  readonly #resources: readonly ResourceInfo[];
  readonly #schemaFor: SchemaFor;
  readonly #documents = new Map<string, OpenApiDocument>();

  /** @param schemaFor answers undefined for built-in kinds. */
  constructor(resources: readonly ResourceInfo[], schemaFor: SchemaFor = noSchemas) {
    this.#resources = resources;
    this.#schemaFor = schemaFor;
  }

  #cached(key: string, build: () => OpenApiDocument, cache = this.#documents): OpenApiDocument {
    let found = cache.get(key);
    if (found === undefined) {
      found = build();
      cache.set(key, found);
    }
    return found;
  }

  /** GET /openapi/v3, with the documents that others have where there is none of these. */
  index(others: readonly OtherPath[] = []): OpenApiDocument {
    if (others.length > 0) return jsonDocument(this.#index(others));
    return this.#cached('index', () => jsonDocument(this.#index([])));
  }

  #index(others: readonly OtherPath[]): JsonObject {
    const hashes = new Map(others.map(({ path, hash }) => [path, hash]));
    const own = new Set([...this.#resources.map(openapiPath), ...this.#roots().keys()]);
    for (const path of own) hashes.set(path, this.v3(path)?.hash ?? '');
    const entries = [...hashes].sort(([a], [b]) => (a < b ? -1 : 1));
    const urlOf = (path: string, hash: string) => `/openapi/v3/${path}${hash && `?hash=${hash}`}`;
    return {
      paths: Object.fromEntries(
        entries.map(([path, hash]) => [path, { serverRelativeURL: urlOf(path, hash) }]),
      ),
    };
  }

  /** GET /openapi/v3/{path}, such as `apis/apps/v1`; undefined when nothing serves it. */
  v3(path: string): OpenApiDocument | undefined {
    return this.#v3(path, 'json');
  }

  /** The same in protobuf, content type application/com.github.proto-openapi.spec.v3.v1.0+protobuf. */
  v3Protobuf(path: string): OpenApiDocument | undefined {
    return this.#v3(path, 'protobuf');
  }

  #v3(path: string, form: 'json' | 'protobuf'): OpenApiDocument | undefined {
    const encode = form === 'json' ? jsonDocument : (value: JsonObject) => document(encodeOpenApi3(value));
    const own = this.#resources.filter((r) => openapiPath(r) === path);
    const first = own[0];
    if (first === undefined) {
      const root = this.#roots().get(path);
      return root && this.#cached(`${form} ${path}`, () => encode(rootDocument(root)), builtinDocuments);
    }
    const cache = own.every((r) => builtinSet.has(r)) ? builtinDocuments : undefined;
    const key = `${form} ${path} ${own.length}`;
    return this.#cached(key, () => encode(openapiV3Document(first, own, this.#schemaFor)), cache);
  }

  #roots(): ReadonlyMap<string, Root> {
    const roots = serverRoots(builtinGroups(this.#resources), openapi3);
    return new Map(roots.map((root) => [root.document, root]));
  }

  /** GET /openapi/v2 as JSON, with what others add. */
  v2(addition?: Addition): OpenApiDocument {
    const own = this.#cached('v2 json', () => jsonDocument(openapiV2(this.#resources, this.#schemaFor)));
    if (addition === undefined) return own;
    return { bytes: withAddition(own.bytes, addition), hash: hashWith(own, addition) };
  }

  /** Of OpenAPI 2. */
  definitionNames(): readonly string[] {
    const custom = this.#resources.filter((r) => !builtinSet.has(r));
    const { definitions } = new Parts(custom, this.#schemaFor, swagger);
    return [...builtinDefinitions(), ...Object.keys(definitions)];
  }

  /**
   * GET /openapi/v2 in protobuf, content type application/com.github.proto-openapi.spec.v2.v1.0+protobuf. Protobuf
   * joins messages by joining their bytes: the built-in part is encoded once for all sets.
   */
  v2Protobuf(addition?: Addition): OpenApiDocument {
    const own = this.#v2Protobuf();
    if (addition === undefined) return own;
    return { bytes: Buffer.concat([own.bytes, addition.protobuf]), hash: hashWith(own, addition) };
  }

  #v2Protobuf(): OpenApiDocument {
    return this.#cached('v2 protobuf', () => {
      const custom = this.#resources.filter((r) => !builtinSet.has(r));
      if (this.#resources.length - custom.length !== builtinSet.size) {
        return document(encodeSwagger(openapiV2(this.#resources, this.#schemaFor)));
      }
      builtinSwagger ??= encodeSwagger(openapiV2(builtinResources));
      if (custom.length === 0) return document(builtinSwagger);
      return document(Buffer.concat([builtinSwagger, encodeSwagger(this.#customSwagger(custom))]));
    });
  }

  /** Only what the built-in part has not: repeated definitions would be listed twice. */
  #customSwagger(custom: readonly ResourceInfo[]): JsonObject {
    const { paths, definitions } = new Parts(custom, this.#schemaFor, swagger);
    const own = Object.entries(definitions).filter(([name]) => !name.startsWith('io.k8s.api'));
    return { paths, definitions: Object.fromEntries(own) };
  }
}
