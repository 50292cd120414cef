import type { Overload } from './functions.ts';
import {
  bool,
  bytes,
  type CelType,
  double,
  duration,
  int,
  listOf,
  mapOf,
  nullType,
  param,
  string,
  struct,
  timestamp,
  typeOf,
  uint,
} from './types.ts';

/** What an expression can name, and the fields of messages. */
export interface Declarations {
  variables: ReadonlyMap<string, CelType>;
  /** The fields of a message by its name; undefined for a name that is no message. */
  fields(message: string): Fields | undefined;
  /** Functions beside those that every expression can call. */
  functions?: ReadonlyMap<string, readonly Overload[]>;
  /** Whether `cel.bind` names a value. */
  bindings?: boolean;
}

export type Fields = (name: string) => CelType | undefined;

/** Messages of Kubernetes' libraries: names of types, of whose fields nothing is known. */
const libraryMessages = new Set([
  ...['Quantity', 'URL', 'Semver', 'NamedFormat'].map((name) => `kubernetes.${name}`),
  ...['Authorizer', 'PathCheck', 'GroupCheck', 'ResourceCheck', 'Decision'].map(
    (name) => `kubernetes.authorization.${name}`,
  ),
]);

/** Names that every expression knows: those of types. */
const typeNames: ReadonlyMap<string, CelType> = new Map([
  ['bool', typeOf(bool)],
  ['bytes', typeOf(bytes)],
  ['double', typeOf(double)],
  ['duration', typeOf(duration)],
  ['google.protobuf.Duration', typeOf(duration)],
  ['google.protobuf.Timestamp', typeOf(timestamp)],
  ['int', typeOf(int)],
  ['list', typeOf(listOf(param('A')))],
  ['map', typeOf(mapOf(param('A'), param('B')))],
  ['null_type', typeOf(nullType)],
  ['string', typeOf(string)],
  ['timestamp', typeOf(timestamp)],
  ['type', typeOf(typeOf())],
  ['uint', typeOf(uint)],
  ['net.IP', typeOf({ kind: 'opaque', name: 'net.IP', params: [] })],
  ['net.CIDR', typeOf({ kind: 'opaque', name: 'net.CIDR', params: [] })],
]);

export function lookup(declarations: Declarations, name: string): CelType | undefined {
  const known = declarations.variables.get(name) ?? typeNames.get(name);
  if (known) return known;
  const isMessage = libraryMessages.has(name) || declarations.fields(name) !== undefined;
  return isMessage ? typeOf(struct(name)) : undefined;
}
