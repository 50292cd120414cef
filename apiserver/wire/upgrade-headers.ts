import type { ApiResponse } from '../../kube/http.ts';
import { bearerProtocol } from '../authn/bearer.ts';

/** What the two ends of a WebSocket or of SPDY/3.1 agree by. */
const asked = [
  'upgrade',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'x-stream-protocol-version',
];

const agreed = [
  'upgrade',
  'connection',
  'sec-websocket-accept',
  'sec-websocket-protocol',
  'sec-websocket-extensions',
  'x-stream-protocol-version',
];

/** What goes on to the other API of a request that asks for an upgrade. Never the caller's secrets. */
export function upgradeHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = pick(headers, asked) as Record<string, string>;
  const protocols = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !protocol.startsWith(bearerProtocol));
  if (protocols.length > 0) sent['sec-websocket-protocol'] = protocols.join(', ');
  return sent;
}

export function answerHeaders({ status, headers }: ApiResponse): ApiResponse['headers'] {
  return pick(headers, status === 101 ? agreed : ['content-type']);
}

function pick<T>(from: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  const picked: Record<string, T> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
