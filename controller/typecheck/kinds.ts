import type { Client } from '../../client/client.ts';
import { isTransportError } from '../../client/errors.ts';
import { collect, failIfNotOk, parseJson } from '../../client/exchange.ts';
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
import { within } from '../../kube/within.ts';

/** Documents for one policy, and lists of what a group serves; and their bytes, which are held as long as it is checked. */
const mostAsked = 50;
const mostBytes = 8 << 20;
const answerMs = 30_000;
const builtinGroups = new Set(builtinResources.map(({ group }) => group));

export interface KindsOptions {
  cluster: string | undefined;
  signal: AbortSignal;
  /** Waits for an answer. */
  aside?: <T>(answer: Promise<T>) => Promise<T>;
}

/**
 * The kinds of one logical cluster, asked for as long as one policy is looked at: of built-in ones everything is known here,
 * of others it is in their documents.
 */
export class Kinds {
  readonly #client: Client;
  readonly #options: KindsOptions;
  readonly #answers = new Map<string, unknown>();
  #bytes = 0;

  constructor(client: Client, options: KindsOptions) {
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

  /**
   * Undefined for what is not there, and for what is more than is held. Policies name what they like: nothing else is asked
   * for by it.
   */
  async #ask(below: string, of: GroupVersion): Promise<unknown> {
    if ([of.group || 'core', of.version].some((name) => validateDns1123Subdomain(name).length > 0))
      return undefined;
    const path = `${below}/${openapiPath(of)}`;
    if (this.#answers.has(path) || this.#answers.size >= mostAsked) return this.#answers.get(path);
    const { cluster, signal, aside = (answer) => answer } = this.#options;
    const asked = within(answerMs, signal, (until) =>
      bytesAt(this.#client, path, { cluster, signal: until, most: mostBytes - this.#bytes }),
    );
    const bytes = await aside(asked);
    this.#bytes += bytes?.length ?? 0;
    const answer = bytes && parseJson(bytes);
    this.#answers.set(path, answer);
    return answer;
  }
}

async function bytesAt(
  client: Client,
  path: string,
  { cluster, signal, most }: { cluster: string | undefined; signal: AbortSignal; most: number },
): Promise<Uint8Array | undefined> {
  const response = await client.raw({ method: 'GET', path, cluster, signal });
  try {
    await failIfNotOk(response);
    const bytes = await collect(response.body, most);
    return bytes.length > most ? undefined : bytes;
  } catch (error) {
    if (isStatusError(error, 'NotFound') || (isTransportError(error) && error.code === 'ETOOLARGE'))
      return undefined;
    throw error;
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
