import { hasProtobuf, protobufMediaType } from '../../kube/protobuf/codec.ts';
import { StatusError } from '../../kube/status.ts';
import type { Encoding } from '../decode/media.ts';
import { mediaTypes } from '../decode/media.ts';
import type { ServedResource } from '../served.ts';

export type Shape = 'object' | 'Table' | 'PartialObjectMetadata';

/** In which form the client wants an answer. */
export interface Form {
  encoding: Encoding;
  shape: Shape;
  /** Of meta.k8s.io, for a Table or metadata alone. */
  version: 'v1' | 'v1beta1';
  pretty: boolean;
  /** Metadata alone: whether it was asked for as a list's. */
  list?: boolean;
}

interface Clause {
  type: string;
  parameters: Readonly<Record<string, string>>;
}

/** What an endpoint has to offer. */
export interface Offer {
  encodings: readonly Encoding[];
  /** Undefined: no shape but the object itself. */
  served?: ServedResource;
  /** A watch: YAML has no stream. */
  stream?: boolean;
  /** A subresource that kube-apiserver makes no Table of. */
  plain?: boolean;
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
  const clauses = (header || '*/*').split(',', clausesLimit).flatMap((text, order) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    if (type !== '*' && type.split('/').length !== 2) return [];
    const pairs = rest.map((part) => part.split('=')).filter((pair) => pair.length === 2 && pair[1]);
    const parameters = Object.fromEntries(
      pairs.map(([name = '', value = '']) => [name.trim(), value.trim()]),
    );
    const quality = parameters['q'] === undefined ? 1 : Number(parameters['q']) || 0;
    return [{ type: type === '*' ? '*/*' : type, parameters, quality, order }];
  });
  const stars = (type: string) => (type.startsWith('*') ? 2 : type.endsWith('*') ? 1 : 0);
  return clauses.sort((a, b) => b.quality - a.quality || stars(a.type) - stars(b.type) || a.order - b.order);
}

const types: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: protobufMediaType,
};
const every: readonly Encoding[] = ['json', 'yaml', 'protobuf'];
const text: readonly Encoding[] = ['json', 'yaml'];

/** What answers that are no object of a resource come in: a Status, a Scale, discovery. */
export const plainOffer: Offer = { encodings: every };

export function offerOf(served: ServedResource, stream: boolean, subresource = ''): Offer {
  const encodings = served.custom || !hasProtobuf(served.info) ? text : every;
  if (hasNoTable(served, subresource)) return { encodings, served, stream, plain: true };
  return { encodings, served, stream };
}

const tableless: readonly string[] = [
  'approval',
  'binding',
  'ephemeralcontainers',
  'eviction',
  'finalize',
  'resize',
  'token',
];
/** Of these groups everything is answered and nothing stored. */
const answering: readonly string[] = ['authentication.k8s.io', 'authorization.k8s.io'];
const statusTableless: readonly string[] = ['customresourcedefinitions', 'apiservices', 'resourceclaims'];

function hasNoTable({ info, custom }: ServedResource, subresource: string): boolean {
  if (custom) return false;
  return (
    answering.includes(info.group) ||
    tableless.includes(subresource) ||
    (subresource === 'status' && statusTableless.includes(info.resource))
  );
}

/** The best of what is offered, in the client's order; undefined when nothing fits. */
export function choose(
  headers: Readonly<Record<string, string>>,
  query: URLSearchParams,
  offer: Offer,
): Form | undefined {
  for (const { type, parameters } of parseAccept(headers['accept'])) {
    for (const encoding of every) {
      if (type !== types[encoding] && type !== '*/*' && type !== 'application/*') continue;
      const shaped = shapeOf(parameters, encoding, offer);
      if (shaped === undefined) continue;
      if (parameters['stream'] && (parameters['stream'] !== 'watch' || encoding === 'yaml')) continue;
      const pretty = parameters['pretty'] === '1' || isPretty(query, headers['user-agent'] ?? '');
      return { encoding, pretty, ...shaped };
    }
  }
  return undefined;
}

/** Throws StatusError 406. */
export function negotiate(
  headers: Readonly<Record<string, string>>,
  query: URLSearchParams,
  offer: Offer,
): Form {
  const form = choose(headers, query, offer);
  if (form !== undefined && !(offer.stream && form.encoding === 'yaml')) return form;
  const accepted =
    form !== undefined
      ? mediaTypes.filter((type) => type !== types.yaml).map((type) => `${type};stream=watch`)
      : mediaTypes;
  throw notAcceptable(`only the following media types are accepted: ${accepted.join(', ')}`);
}

/**
 * The router's look at the header, before anything else of a request counts: a type that the path never gives.
 * Throws StatusError 406.
 */
export function checkAccept(
  headers: Readonly<Record<string, string>>,
  produces: readonly string[] = [types.json, types.yaml, types.protobuf],
): void {
  const header = headers['accept'] || '*/*';
  if (header === '*/*' || produces.includes(header)) return;
  for (const clause of header.split(',')) {
    const type = (clause.split(';')[0] ?? '').trim();
    if (type === '*/*' || produces.includes(type)) return;
  }
  const message = `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`;
  throw notAcceptable(message, {});
}

/** What a collection's GET may give. */
export const listTypes: readonly string[] = [
  types.json,
  types.yaml,
  types.protobuf,
  `${types.json};stream=watch`,
  `${types.protobuf};stream=watch`,
];

export function notAcceptable(message: string, details?: Record<string, never>): StatusError {
  return new StatusError(406, 'NotAcceptable', message, details);
}

function shapeOf(
  parameters: Readonly<Record<string, string>>,
  encoding: Encoding,
  { encodings, served, plain = false }: Offer,
): Omit<Form, 'encoding' | 'pretty'> | undefined {
  const { as, g, v } = parameters;
  if (as === undefined && g === undefined && v === undefined) {
    return encodings.includes(encoding) ? { shape: 'object', version: 'v1' } : undefined;
  }
  if (served === undefined || g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined;
  if (as === 'Table') return plain || encoding === 'protobuf' ? undefined : { shape: 'Table', version: v };
  const list = as === 'PartialObjectMetadataList';
  if (as !== 'PartialObjectMetadata' && !list) return undefined;
  return { shape: 'PartialObjectMetadata', version: v, list };
}

function isPretty(query: URLSearchParams, agent: string): boolean {
  const asked = query.get('pretty');
  if (asked) return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(agent);
}
