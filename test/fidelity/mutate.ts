import type { Json, JsonObject } from '../../kube/object.ts';
import { isRecord, setOwn } from '../../kube/untyped.ts';

export interface Mutation {
  /** `spec.ports[0].port wrong-type` */
  what: string;
  /** Made when it is asked for: there are hundreds of thousands. */
  object(): JsonObject;
}

type Path = readonly (string | number)[];

/** The object broken in one place, in every place and way: drop, null, wrong type, unknown field, range, enum. */
export function mutations(object: JsonObject): Mutation[] {
  const found: Mutation[] = [];
  const add = (path: Path, how: string, value: Json | undefined) => {
    const broken = () => {
      const copy = structuredClone(object);
      put(copy, path, value);
      return copy;
    };
    found.push({ what: `${path.join('.')} ${how}`, object: broken });
  };
  visit(object, [], (path, value) => {
    if (path.length === 0 || path[0] === 'kind' || path[0] === 'apiVersion') return;
    add(path, 'dropped', undefined);
    add(path, 'null', null);
    if (isRecord(value)) {
      add(path, 'text', 'text');
      add(path, 'list', []);
      add(path, 'empty', {});
      add([...path, 'unknownField'], 'unknown', 1);
    } else if (Array.isArray(value)) {
      add(path, 'text', 'text');
      add(path, 'empty', []);
      add(path, 'doubled', [...value, ...structuredClone(value)] as Json);
      add(path, 'null item', [null, ...value] as Json);
      add(path, 'number item', [1] as Json);
    } else for (const [how, broken] of brokenScalars(value)) add(path, how, broken);
  });
  return found;
}

function brokenScalars(value: Json): [string, Json][] {
  if (typeof value === 'number') {
    return [
      ['negative', -1],
      ['zero', 0],
      ['huge', 99999999999],
      ['beyond int64', 1e30],
      ['fraction', 1.5],
      ['text', 'text'],
      ['boolean', true],
    ];
  }
  if (typeof value === 'boolean')
    return [
      ['negated', !value],
      ['text', 'true'],
      ['number', 1],
    ];
  return [
    ['empty', ''],
    ['bad characters', 'Bad Value!_/'],
    ['other', 'other'],
    ['long', 'x'.repeat(300)],
    ['number', 7],
    ['boolean', true],
    ['object', {}],
  ];
}

function visit(value: Json, path: Path, see: (path: Path, value: Json) => void): void {
  see(path, value);
  if (Array.isArray(value)) for (const [i, item] of value.entries()) visit(item, [...path, i], see);
  else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) visit(item as Json, [...path, key], see);
  }
}

function put(root: JsonObject, path: Path, value: Json | undefined): void {
  let at: Json = root;
  for (const step of path.slice(0, -1)) at = (at as JsonObject)[step as string] as Json;
  const last = path.at(-1);
  if (Array.isArray(at)) {
    if (value === undefined) at.splice(Number(last), 1);
    else at[Number(last)] = value;
  } else if (isRecord(at)) {
    if (value === undefined) delete (at as JsonObject)[String(last)];
    else setOwn(at as JsonObject, String(last), value);
  }
}
