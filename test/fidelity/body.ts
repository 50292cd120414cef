import { decodeJson } from '../../kube/json.ts';
import type { Json } from '../../kube/object.ts';
import { decodeProtobuf } from '../../kube/protobuf/codec.ts';
import { isProtobuf } from '../../kube/protobuf/envelope.ts';
import { decodeYaml } from '../../kube/yaml.ts';

/** `compact` or `indented` for JSON, and whether a newline ends it. */
export function layoutOf(text: string): string {
  if (!text.startsWith('{') && !text.startsWith('[')) return '';
  const first = text.indexOf('\n');
  const form = first >= 0 && first < text.length - 1 && text[first + 1] === ' ' ? 'indented' : 'compact';
  return text.endsWith('\n') ? `${form}, newline` : form;
}

/** JSON, YAML, protobuf or a stream of either, as one tree; other text as it is. */
export function treeOf(type: string, body: Buffer): Json {
  if (body.length === 0) return '';
  try {
    if (type.startsWith('application/json')) return jsonOf(body);
    if (type.startsWith('application/yaml')) return decodeYaml(body.toString('utf8')).value;
    if (type.startsWith('application/vnd.kubernetes.protobuf')) return protobufOf(type, body);
  } catch (error) {
    return `unreadable: ${error instanceof Error ? error.message : String(error)}: ${body.toString('latin1').slice(0, 200)}`;
  }
  // The index of OpenAPI documents has no type of its own.
  if (type.startsWith('text/plain') && body[0] === 0x7b) return jsonOf(body);
  return type.startsWith('text/') || type === ''
    ? body.toString('utf8')
    : `${body.length > 0 ? 'bytes' : ''}`;
}

function jsonOf(body: Buffer): Json {
  const text = body.toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length > 1 && lines.every((line) => line.startsWith('{"type":'))) {
    return lines.map((line) => decodeJson(Buffer.from(line)).value);
  }
  return lines.length === 1 && text.startsWith('{"type":')
    ? [decodeJson(body).value]
    : decodeJson(body).value;
}

function protobufOf(type: string, body: Buffer): Json {
  if (!type.includes('stream=watch')) return decodeProtobuf(body) as unknown as Json;
  const events: Json[] = [];
  for (let at = 0; at + 4 <= body.length; ) {
    const length = body.readUInt32BE(at);
    events.push(watchEvent(body.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return events;
}

/** metav1.WatchEvent: type=1, object=2 (RawExtension: raw=1). */
function watchEvent(frame: Buffer): Json {
  const start = frame.indexOf(Buffer.from([0x6b, 0x38, 0x73, 0]));
  const type = frame.subarray(2, 2 + (frame[1] ?? 0)).toString();
  if (start < 0) return { type, object: null };
  const raw = frame.subarray(start);
  return { type, object: isProtobuf(raw) ? (decodeProtobuf(raw) as unknown as Json) : null };
}
