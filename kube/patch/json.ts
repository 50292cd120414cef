import { deepCopy, deepEqual } from '../deep.ts';
import { jsonType } from '../go-words.ts';
import { encodeJson } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';
import { badRequest, StatusError } from '../status.ts';
import { getOwn, isRecord, setOwn } from '../untyped.ts';

const maxOperations = 10_000;
/** What `copy` operations together may add, in bytes: kube-apiserver's limit of a request body. */
const maxCopiedBytes = 3 * 1024 * 1024;
/** How many items may give way, together, to those that come or go before them: a tenth of a second for all. */
const maxMoved = 2e8;

/**
 * RFC 6902 with the reading kube-apiserver gives it: negative indices count from the end, `replace` of a missing
 * object key adds it, `copy` of a missing key copies null. The target stays as it is.
 *
 * Throws StatusError: 400 for what is no patch, 413 for more than 10,000 operations and for very many of them at the beginning of a
 * very long list, 422 when it does not apply.
 *
 * @param mostMoved how many list items may make room for others, or close up, in all.
 */
export function applyJsonPatch(target: Json, patch: Json, mostMoved = maxMoved): Json {
  const operations = decodeOperations(patch);
  if (operations.length > maxOperations) {
    throw tooLarge(
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    );
  }
  const state: State = { root: deepCopy(target), copied: 0, moved: 0, mostMoved };
  for (const operation of operations) applyOperation(state, operation);
  return state.root;
}

function tooLarge(why: string): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`);
}

/** The first operation that does not apply, and what those before it made of the target; undefined: all do. */
export function firstRefused(
  target: Json,
  patch: readonly Json[],
): { operation: Json; before: Json } | undefined {
  const state: State = { root: deepCopy(target), copied: 0, moved: 0, mostMoved: maxMoved };
  for (const operation of patch.slice(0, maxOperations)) {
    try {
      for (const decoded of decodeOperations([operation])) applyOperation(state, decoded);
    } catch {
      return { operation, before: state.root };
    }
  }
  return undefined;
}

interface State {
  root: Json;
  copied: number;
  moved: number;
  mostMoved: number;
}

interface Operation {
  op: string;
  path: string;
  from: string | undefined;
  /** Undefined when the operation has none. */
  value: Json | undefined;
}

function decodeOperations(patch: Json): Operation[] {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonType(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  return patch.map((given) => {
    // To Go a null is an operation that says nothing.
    const item = given ?? {};
    if (!isRecord(item)) {
      throw badRequest(
        `error decoding patch: json: cannot unmarshal ${jsonType(item)} into Go value of type handlers.jsonPatchOp`,
      );
    }
    return {
      op: textField(item, 'op') ?? 'unknown',
      path: textField(item, 'path') ?? doesNotApply(),
      from: textField(item, 'from'),
      value: getOwn(item, 'value') as Json | undefined,
    };
  });
}

const fields = ['op', 'path', 'from', 'value'];

/** Fields of operations that nobody knows, as `unknown field "[0].extra"`: they change nothing. */
export function unknownInOperations(patch: Json): string[] {
  if (!Array.isArray(patch)) return [];
  return patch.flatMap((item, i) =>
    isRecord(item)
      ? Object.keys(item)
          .filter((name) => !fields.includes(name))
          .map((name) => `unknown field ${JSON.stringify(`[${i}].${name}`)}`)
      : [],
  );
}

function textField(item: Record<string, unknown>, field: string): string | undefined {
  const value = getOwn(item, field) as Json | undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go struct field jsonPatchOp.${field} of type string`,
  );
}

function doesNotApply(): never {
  const message = 'the server rejected our request due to an error in our request';
  throw new StatusError(422, 'Invalid', message, {});
}

function applyOperation(state: State, { op, path, from, value = null }: Operation): void {
  switch (op) {
    case 'add':
      add(state, locate(state.root, path), deepCopy(value));
      break;
    case 'remove':
      remove(state, locate(state.root, path));
      break;
    case 'replace':
      replace(state, path, deepCopy(value));
      break;
    case 'move': {
      // The destination is looked up after the source is gone, as RFC 6902 orders it.
      const moved = remove(state, locate(state.root, from ?? doesNotApply()));
      add(state, locate(state.root, path), moved);
      break;
    }
    case 'copy': {
      const found = deepCopy(read(locate(state.root, from ?? doesNotApply())) ?? null);
      state.copied += encodeJson(found).length;
      if (state.copied > maxCopiedBytes) doesNotApply();
      add(state, locate(state.root, path), found);
      break;
    }
    case 'test': {
      const found = path === '' ? state.root : read(locate(state.root, path));
      if (!deepEqual(found ?? null, value)) doesNotApply();
      break;
    }
    default:
      doesNotApply();
  }
}

interface Place {
  container: Json[] | JsonObject;
  key: string;
}

function locate(root: Json, path: string): Place {
  const parts = path.split('/').slice(1).map(unescapePart);
  const key = parts.pop();
  if (key === undefined) return doesNotApply();
  let at: Json | undefined = root;
  for (const part of parts) {
    if (typeof at !== 'object' || at === null) return doesNotApply();
    at = read({ container: at, key: part });
  }
  if (typeof at !== 'object' || at === null) return doesNotApply();
  return { container: at, key };
}

export function unescapePart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** `length` is one past the last index allowed. */
function arrayIndex(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key)) return doesNotApply();
  const index = Number(key);
  const positive = index < 0 ? index + length : index;
  return positive < 0 || positive >= length ? doesNotApply() : positive;
}

function read({ container, key }: Place): Json | undefined {
  if (!Array.isArray(container)) return getOwn(container, key);
  return container[arrayIndex(key, container.length)];
}

function add(state: State, { container, key }: Place, value: Json): void {
  if (Array.isArray(container)) {
    const index = key === '-' ? container.length : arrayIndex(key, container.length + 1);
    moves(state, container.length - index);
    container.splice(index, 0, value);
  } else setOwn(container, key, value);
}

function moves(state: State, items: number): void {
  state.moved += items;
  if (state.moved <= state.mostMoved) return;
  throw tooLarge(`The allowed maximum of list items that a JSON patch moves is ${state.mostMoved}`);
}

function remove(state: State, { container, key }: Place): Json {
  if (Array.isArray(container)) {
    const index = arrayIndex(key, container.length);
    moves(state, container.length - index);
    return container.splice(index, 1)[0] ?? null;
  }
  if (!Object.hasOwn(container, key)) return doesNotApply();
  const value = container[key] ?? null;
  delete container[key];
  return value;
}

function replace(state: State, path: string, value: Json): void {
  if (path === '') {
    if (typeof value !== 'object' || value === null) doesNotApply();
    state.root = value;
    return;
  }
  const { container, key } = locate(state.root, path);
  if (Array.isArray(container)) container[arrayIndex(key, container.length)] = value;
  else setOwn(container, key, value);
}
