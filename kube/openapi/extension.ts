import type { GroupVersion } from '../gvk.ts';
import { decodeJsonText, encodeJson } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';
import { isRecord, record } from '../untyped.ts';
import { type Addition, hashOf } from './addition.ts';
import { encodeSwagger } from './gnostic.ts';

/** What another server's OpenAPI 2 document says of one group and version: JSON by its name. */
export interface OtherSwagger {
  paths: ReadonlyMap<string, string>;
  definitions: ReadonlyMap<string, string>;
  parameters: ReadonlyMap<string, string>;
  /** The same. */
  protobuf: Uint8Array;
}

const sections = ['definitions', 'parameters'] as const;
type Section = (typeof sections)[number];
const gvkWord = 'x-kubernetes-group-version-kind';
const mostDepth = 100;
/** Of one path or definition, which is written in one piece: no type of Kubernetes has a tenth of it. */
const mostValues = 20_000;
/** What one costs besides its length, as so many bytes. */
const entryBytes = 512;

/**
 * What a document says below the group and version's own path, and what that refers to but for what is `defined` already. It
 * says of no other group's kinds what they are. Throws where it cannot be read.
 */
export async function otherSwagger(
  document: JsonObject,
  gv: GroupVersion,
  defined: ReadonlySet<string>,
  /** Told how many bytes were written; waits where others are to have their turn. */
  pace: (bytes: number) => Promise<void> | undefined,
): Promise<OtherSwagger> {
  const own = new Copier(gv);
  const prefix = `/apis/${gv.group}/${gv.version}/`;
  const paths = new Map<string, string>();
  const found = { definitions: new Map<string, string>(), parameters: new Map<string, string>() };
  const protobuf: Uint8Array[] = [];
  const write = async (section: 'paths' | Section, into: Map<string, string>, name: string, value: Json) => {
    const copy = own.copyWhole(value);
    const text = encodeJson(copy);
    into.set(name, text);
    protobuf.push(encodeSwagger({ [section]: { [name]: copy } }, text.length));
    await pace(text.length + entryBytes);
  };
  const given = record(document['paths']);
  // Pairs of a hundred thousand take a second.
  for (const path of Object.keys(given)) {
    if (path.startsWith(prefix)) await write('paths', paths, path, given[path] as Json);
  }
  // The set grows as what it refers to is read.
  for (const { section, name } of own.references()) {
    const all = document[section];
    if (section === 'definitions' && defined.has(name)) continue;
    if (!isRecord(all) || !Object.hasOwn(all, name)) throw new Error(`there is no ${name}`);
    await write(section, found[section], name, all[name] as Json);
  }
  return { paths, ...found, protobuf: Buffer.concat(protobuf) };
}

/** Copies what is said of one group and version, and notes to what it refers. */
class Copier {
  readonly #gv: GroupVersion;
  readonly #found = new Map<string, { section: Section; name: string }>();
  #left = 0;

  constructor(gv: GroupVersion) {
    this.#gv = gv;
  }

  references(): IterableIterator<{ section: Section; name: string }> {
    return this.#found.values();
  }

  copyWhole(value: Json): Json {
    this.#left = mostValues;
    return this.#copy(value, 0);
  }

  #copy(value: Json, depth: number): Json {
    if (depth > mostDepth) throw new Error('too deep');
    if (--this.#left < 0) throw new Error('too much in one piece');
    if (!isRecord(value) && !Array.isArray(value)) return value;
    // The names of a hundred thousand are found in a tenth of the time in which they are copied.
    const { length } = Array.isArray(value) ? value : Object.keys(value);
    if (length > this.#left) throw new Error('too much in one piece');
    if (Array.isArray(value)) return value.map((one) => this.#copy(one, depth + 1));
    const entries = Object.entries(value as JsonObject).flatMap(([key, item]): [string, Json][] => {
      if (key === '$ref' && typeof item === 'string') this.#note(item);
      if (key !== gvkWord) return [[key, this.#copy(item, depth + 1)]];
      const kept = this.#own(item);
      return kept === undefined ? [] : [[key, kept]];
    });
    return Object.fromEntries(entries);
  }

  #note(reference: string): void {
    const [, section, name] = /^#\/(definitions|parameters)\/([^/~%]+)$/.exec(reference) ?? [];
    if (section === undefined || name === undefined) throw new Error(`no reference: ${reference}`);
    this.#found.set(reference, { section: section as Section, name });
  }

  #own(kinds: Json): Json | undefined {
    const isOwn = (kind: unknown) =>
      isRecord(kind) && kind['group'] === this.#gv.group && kind['version'] === this.#gv.version;
    if (!Array.isArray(kinds)) return isOwn(kinds) ? kinds : undefined;
    const own = kinds.filter(isOwn);
    return own.length > 0 ? own : undefined;
  }
}

/**
 * What others add to a document that has these definitions. A name that means something else already gets another, `_v2`,
 * as kube-aggregator has it. Each is of another group or version, and so are its paths.
 */
export async function additionOf(
  others: readonly OtherSwagger[],
  defined: Iterable<string>,
  /** As of otherSwagger. */
  pace: (bytes: number) => Promise<void> | undefined,
): Promise<Addition> {
  const all = {
    paths: new Map<string, string>(),
    definitions: new Map<string, string | undefined>(),
    parameters: new Map<string, string | undefined>(),
  };
  for (const name of defined) all.definitions.set(name, undefined);
  const protobuf: Uint8Array[] = [];
  for (const other of others) {
    const renamed = new Map(sections.flatMap((section) => renames(section, other[section], all[section])));
    const named = renamed.size > 0 ? await withNames(other, renamed, pace) : other;
    for (const [path, item] of named.paths) all.paths.set(path, item);
    for (const section of sections) {
      for (const [name, text] of named[section]) all[section].set(name, text);
    }
    protobuf.push(named.protobuf);
  }
  const written = (map: Map<string, string | undefined>) =>
    [...map]
      .flatMap(([name, text]) => (text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]))
      .join();
  const paths = written(all.paths);
  const definitions = written(all.definitions);
  const parameters = written(all.parameters);
  const hash = hashOf([paths, definitions, parameters]);
  return { paths, definitions, parameters, protobuf: Buffer.concat(protobuf), hash };
}

function renames(
  section: Section,
  given: ReadonlyMap<string, string>,
  taken: ReadonlyMap<string, string | undefined>,
): [string, string][] {
  return [...given].flatMap(([name, text]): [string, string][] => {
    if (!taken.has(name) || taken.get(name) === text) return [];
    let at = 2;
    while (taken.has(`${name}_v${at}`) || given.has(`${name}_v${at}`)) at++;
    return [[`#/${section}/${name}`, `#/${section}/${name}_v${at}`]];
  });
}

/** In a JSON text such a string is nothing but a reference. */
const reference = /"\$ref":"((?:[^"\\]|\\.)+)"/g;

async function withNames(
  other: OtherSwagger,
  renamed: ReadonlyMap<string, string>,
  pace: (bytes: number) => Promise<void> | undefined,
): Promise<OtherSwagger> {
  const protobuf: Uint8Array[] = [];
  const inText = (text: string) =>
    text.replace(reference, (given, name: string) => {
      const other = renamed.get(JSON.parse(`"${name}"`));
      return other === undefined ? given : `"$ref":${JSON.stringify(other)}`;
    });
  const section = async (name: 'paths' | Section) => {
    const named = new Map<string, string>();
    for (const [key, text] of other[name]) {
      const at = renamed.get(`#/${name}/${key}`)?.split('/')[2] ?? key;
      const now = inText(text);
      named.set(at, now);
      protobuf.push(encodeSwagger({ [name]: { [at]: decodeJsonText(now).value } }, now.length));
      await pace(now.length + entryBytes);
    }
    return named;
  };
  const paths = await section('paths');
  const definitions = await section('definitions');
  const parameters = await section('parameters');
  return { paths, definitions, parameters, protobuf: Buffer.concat(protobuf) };
}
