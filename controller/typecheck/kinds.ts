import type { Client } from '../../client/client.ts';
import { KindType, type Resolve } from '../../kube/cel/typed/kind-type.ts';
import type { GroupVersion, GroupVersionKind, GroupVersionResource } from '../../kube/gvk.ts';
import { validateDns1123Subdomain } from '../../kube/names.ts';
import type { JsonObject } from '../../kube/object.ts';
import { definitionOf, openapi3 } from '../../kube/openapi/definition.ts';
import { noDocs } from '../../kube/openapi/docs.ts';
import { openapiPath } from '../../kube/openapi/openapi.ts';
import { builtinResources } from '../../kube/schema/builtin.ts';
import { structNamed, structOf } from '../../kube/schema/go.ts';
import { isStatusError } from '../../kube/status.ts';
import { at, getOwn, isRecord, record, records, text } from '../../kube/untyped.ts';

/** Documents for one policy, and lists of what a group serves. */
const mostAsked = 50;
const builtinGroups = new Set(builtinResources.map(({ group }) => group));

/**
 * The kinds of one logical cluster, asked for as long as one policy is looked at: of built-in ones everything is known here,
 * of others it is in their documents.
 */
export class Kinds {
  readonly #client: Client;
  readonly #options: { cluster: string | undefined; signal: AbortSignal };
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(client: Client, options: { cluster: string | undefined; signal: AbortSignal }) {
    this.#client = client;
    this.#options = options;
  }

  async kindsFor(wanted: GroupVersionResource): Promise<GroupVersionKind[]> {
    const { group, version, resource } = wanted;
    const builtin = builtinResources.filter(
      (one) =>
        one.version === version &&
        (group === '' || one.group === group) &&
        (one.resource === resource || one.singular === resource),
    );
    if (builtin.length > 0 || group === '')
      return builtin.map(({ group: of, kind }) => ({ group: of, version, kind }));
    const list = await this.#ask('', wanted);
    return records(at(list, 'resources')).flatMap(({ name, singularName, kind }) =>
      name === resource || singularName === resource ? [{ group, version, kind: text(kind) }] : [],
    );
  }

  /** `message` is the name of its type in messages. Undefined for a kind that nobody knows. */
  async typeOf(kind: GroupVersionKind, message: string): Promise<KindType | undefined> {
    const struct = builtinGroups.has(kind.group) ? structOf(kind.group, kind.version, kind.kind) : undefined;
    if (struct) return new KindType(openapi3.prefix + struct.name, builtinDefinition, message);
    const document = await this.#ask('/openapi/v3', kind);
    const schemas = record(at(document, 'components', 'schemas'));
    const name = Object.keys(schemas).find((one) => isOf(kind, schemas[one]));
    if (name === undefined) return undefined;
    const resolve: Resolve = (ref) => {
      const found = getOwn(schemas, ref.slice(openapi3.prefix.length));
      return isRecord(found) ? found : undefined;
    };
    return new KindType(openapi3.prefix + name, resolve, message);
  }

  /** Undefined for what is not there. Policies name what they like: nothing else is asked for by it. */
  async #ask(below: string, of: GroupVersion): Promise<unknown> {
    if ([of.group || 'core', of.version].some((name) => validateDns1123Subdomain(name).length > 0))
      return undefined;
    const path = `${below}/${openapiPath(of)}`;
    const known = this.#answers.get(path);
    if (known || this.#answers.size >= mostAsked) return known;
    const answer = this.#client.json(path, this.#options).catch((error: unknown) => {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    });
    this.#answers.set(path, answer);
    return answer;
  }
}

function isOf({ group, version, kind }: GroupVersionKind, schema: unknown): boolean {
  return records(at(schema, 'x-kubernetes-group-version-kind')).some(
    (one) => one['group'] === group && one['version'] === version && one['kind'] === kind,
  );
}

const definitions = new Map<string, JsonObject>();

/** Without texts: they are large, and nobody reads them here. */
function builtinDefinition(ref: string): JsonObject | undefined {
  const known = definitions.get(ref);
  if (known) return known;
  const struct = structNamed(ref.slice(openapi3.prefix.length));
  const made = struct && definitionOf(struct, openapi3, new Set(), noDocs);
  if (made) definitions.set(ref, made);
  return made;
}
