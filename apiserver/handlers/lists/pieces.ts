import type { ApiResponse } from '../../../kube/http.ts';
import type { Later } from '../../../kube/later.ts';
import { Pace } from '../../../kube/others-first.ts';
import { readEnvelope, writeEnvelope } from '../../../kube/protobuf/envelope.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import type { Form } from '../../encode/negotiate.ts';
import { contentTypes, encodeAs, type Kinded } from '../../encode/respond.ts';

/** Some of a list's entries as a list of their own. */
type Make = (entries: readonly Entry[]) => Later<Kinded>;

/** Takes the items out of lists that differ in these alone, and makes one list of them. */
interface Joint {
  /** Undefined: it was encoded in another way than the first. */
  inside(list: Uint8Array): Uint8Array | undefined;
  joined(pieces: readonly Uint8Array[]): readonly Uint8Array[];
}

/** The same bytes as of the whole list in one go; between its pieces others have their turn. */
export async function respondInPieces(
  exchange: ResourceExchange,
  form: Form,
  entries: readonly Entry[],
  make: Make,
): Promise<ApiResponse> {
  const pace = new Pace(exchange.info.cluster);
  const pieces: Uint8Array[] = [];
  let joint: Joint | undefined;
  let from = 0;
  for (const [at, entry] of entries.entries()) {
    const others = pace.after(entry.value.length);
    if (!others && at < entries.length - 1) continue;
    const list = await make(entries.slice(from, at + 1));
    from = at + 1;
    joint ??= form.encoding === 'protobuf' ? messageJoint(list) : textJoint(list, form);
    const piece = joint.inside(encodeAs(list, form));
    // Numbers that only our own JSON can write are not indented.
    if (piece === undefined) return respondInPieces(exchange, { ...form, pretty: false }, entries, make);
    pieces.push(piece);
    await others;
  }
  const body = joint?.joined(pieces) ?? [];
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const headers = { 'content-type': contentTypes[form.encoding], 'content-length': String(length) };
  return { status: 200, headers, body: inTurns(body) };
}

/** Before the items, between two, and after them, where an empty list has `empty`. */
interface Words {
  empty: string;
  open: string;
  between: string;
  close: string;
}

function wordsOf({ encoding, pretty }: Form, field: string): Words {
  if (encoding === 'yaml') return { empty: `${field}: []`, open: `${field}:\n`, between: '', close: '' };
  if (!pretty) return { empty: `"${field}":[]`, open: `"${field}":[`, between: ',', close: ']' };
  const name = `\n  "${field}": [`;
  return { empty: `${name}]`, open: `${name}\n`, between: ',\n', close: '\n  ]' };
}

function textJoint(list: Kinded, form: Form): Joint {
  const field = form.shape === 'Table' ? 'rows' : 'items';
  const { empty, open, between, close } = wordsOf(form, field);
  const none = Buffer.from(encodeAs({ ...list, [field]: [] }, form));
  // Nothing that a user says comes after the items.
  const at = none.lastIndexOf(empty);
  const rest = none.subarray(at + empty.length);
  const head = Buffer.concat([none.subarray(0, at), Buffer.from(open)]);
  const tail = Buffer.concat([Buffer.from(close), form.encoding === 'yaml' ? rest.subarray(1) : rest]);
  return {
    inside: (whole) =>
      head.equals(whole.subarray(0, head.length))
        ? whole.subarray(head.length, whole.length - tail.length)
        : undefined,
    joined: (pieces) => [
      head,
      ...pieces.flatMap((piece, i) => (i === 0 || between === '' ? [piece] : [Buffer.from(between), piece])),
      tail,
    ],
  };
}

/** Fields stand in order: the metadata, then each item. */
function messageJoint(list: Kinded): Joint {
  const { apiVersion, kind, raw } = readEnvelope(encodeAs({ ...list, items: [] }, messages));
  return {
    inside: (whole) => readEnvelope(whole).raw.subarray(raw.length),
    joined: (pieces) => [
      writeEnvelope(apiVersion, kind, (writer) => {
        for (const piece of [raw, ...pieces].reverse()) writer.raw(piece);
      }),
    ],
  };
}

const messages: Form = { encoding: 'protobuf', shape: 'object', version: 'v1', pretty: false };

async function* inTurns(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield piece;
}
