import { hasProtobuf } from '../../kube/protobuf/codec.ts';
import { StatusError } from '../../kube/status.ts';
import type { Encoding } from '../decode/media.ts';
import { mediaTypes } from '../decode/media.ts';
import type { ServedResource } from '../options.ts';

export type Shape = 'object' | 'Table' | 'PartialObjectMetadata';

/** In which form the client wants an answer. */
export interface Form {
  encoding: Encoding;
  shape: Shape;
  /** Of meta.k8s.io, for a Table or metadata alone. */
  version: 'v1' | 'v1beta1';
  pretty: boolean;
}

interface Clause {
  type: string;
  parameters: Readonly<Record<string, string>>;
}

/** Clients say one of a few dozen things; whoever varies it does not fill memory. */
const parsed = new Map<string, readonly Clause[]>();
const parsedLimit = 256;
const longestKept = 512;

/** The clauses of an Accept header, best first. */
export function parseAccept(header = ''): readonly Clause[] {
  const known = parsed.get(header);
  if (known) return known;
  const clauses = clausesOf(header);
  if (parsed.size < parsedLimit && header.length <= longestKept) parsed.set(header, clauses);
  return clauses;
}

/** More are not looked at. */
const clausesLimit = 1000;

function clausesOf(header: string): Clause[] {
  const clauses = (header || '*/*').split(',', clausesLimit).map((text, order) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    const parameters = Object.fromEntries(
      rest.map((part) => [part.split('=')[0]?.trim() ?? '', part.slice(part.indexOf('=') + 1).trim()]),
    );
    const quality = parameters['q'] === undefined ? 1 : Number(parameters['q']);
    return { type: type.toLowerCase(), parameters, quality, order };
  });
  return clauses
    .filter((clause) => clause.quality > 0)
    .sort((a, b) => b.quality - a.quality || a.order - b.order);
}

/** Throws StatusError 406. JSON is preferred wherever a client takes it: the bytes are ready. */
export function negotiate(
  headers: Readonly<Record<string, string>>,
  query: URLSearchParams,
  served: ServedResource | undefined,
): Form {
  const protobuf = served !== undefined && !served.custom && hasProtobuf(served.info);
  const clauses = parseAccept(headers['accept']);
  const jsonTaken = clauses.some((c) => c.type === 'application/json' && !c.parameters['as']);
  const pretty = isPretty(query, headers['user-agent'] ?? '');
  for (const { type, parameters } of clauses) {
    const shape = shapeOf(parameters, served !== undefined);
    if (shape === undefined) continue;
    const encoding = encodingOf(type);
    if (encoding === undefined) continue;
    const version = parameters['v'] === 'v1beta1' ? 'v1beta1' : 'v1';
    if (encoding !== 'protobuf') return { encoding, shape, version, pretty };
    if (shape === 'object' && protobuf && !jsonTaken) return { encoding, shape, version, pretty };
  }
  const types = mediaTypes(served);
  const streams = types.filter((t) => t !== 'application/yaml').map((t) => `${t};stream=watch`);
  const message = `406: Not Acceptable\n\nAvailable representations: ${[...types, ...streams].join(', ')}`;
  throw new StatusError(406, 'NotAcceptable', message, {});
}

function encodingOf(type: string): Encoding | undefined {
  if (type === '*/*' || type === 'application/*' || type === 'application/json') return 'json';
  if (type === 'application/yaml') return 'yaml';
  return type === 'application/vnd.kubernetes.protobuf' ? 'protobuf' : undefined;
}

function shapeOf(parameters: Readonly<Record<string, string>>, resource: boolean): Shape | undefined {
  const { as, g, v } = parameters;
  if (as === undefined) return 'object';
  if (!resource || g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined;
  if (as === 'Table') return 'Table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
    ? 'PartialObjectMetadata'
    : undefined;
}

function isPretty(query: URLSearchParams, agent: string): boolean {
  const asked = query.get('pretty');
  if (asked !== null) return asked !== 'false' && asked !== '0';
  return /^(curl\/|Wget\/|Mozilla\/5\.0)/.test(agent);
}
