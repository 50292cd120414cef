import { formatApiVersion } from '../../kube/gvk.ts';
import type { JsonObject } from '../../kube/object.ts';
import { quoteGo } from '../../kube/quote.ts';
import { decodeStruct } from '../../kube/schema/strict.ts';
import type { StatusCause } from '../../kube/status.ts';
import { badRequest, invalid } from '../../kube/status.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Exchange } from '../core.ts';
import { wholeSeconds } from '../registry/grace.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { parseBody } from './body.ts';
import { bodyEncoding } from './media.ts';
import { cause, dryRunOf } from './options.ts';

const expected = { group: '', version: 'v1', kind: 'DeleteOptions' };

/** DeleteOptions from the body or, without one, from the query. */
export function deleteOptions(exchange: Exchange): DeleteOptions {
  const { request, info } = exchange;
  const body = request.body;
  if (body === undefined || body.length === 0) return checkDeleteOptions(fromQuery(info.query), info.query);
  const encoding = bodyEncoding(request.headers['content-type'], undefined);
  const { value, literals } = parseBody(body, encoding, expected);
  checkKind(value);
  const { value: decoded, error } = decodeStruct(value, expected, literals);
  if (error !== undefined) throw badRequest(error);
  // Of the internal version, as kube-apiserver writes it.
  exchange.audit?.sent({ ...value, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' });
  return checkDeleteOptions(decoded, info.query);
}

/** Every group has its own DeleteOptions; all are the same. */
function checkKind(value: JsonObject): void {
  const kind = value['kind'] || expected.kind;
  const apiVersion = value['apiVersion'] || formatApiVersion(expected);
  if (typeof kind !== 'string' || typeof apiVersion !== 'string' || kind === expected.kind) return;
  throw badRequest(
    `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

/** Of a parameter that is given more than once the first counts, as wherever Go decodes a query. */
function fromQuery(query: URLSearchParams): JsonObject {
  const policy = query.get('propagationPolicy');
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  const uid = query.get('uid');
  const resourceVersion = query.get('resourceVersion');
  if (grace !== null && !/^[+-]?[0-9]+$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(grace)}: invalid syntax`);
  }
  if (grace !== null && BigInt.asIntN(64, BigInt(grace)) !== BigInt(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(grace)}: value out of range`);
  }
  return {
    ...(policy !== null && { propagationPolicy: policy }),
    ...(grace !== null && { gracePeriodSeconds: Number(grace) }),
    ...(orphan !== null && { orphanDependents: orphan !== '0' && orphan.toLowerCase() !== 'false' }),
    preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
  };
}

const policies = ['Foreground', 'Background', 'Orphan'];

/** As deleteOptions, of a DeleteOptions that came inside something else. */
export function checkDeleteOptions(given: Record<string, unknown>, query: URLSearchParams): DeleteOptions {
  const causes: StatusCause[] = [];
  const { propagationPolicy, orphanDependents, gracePeriodSeconds: grace } = given;
  const preconditions = isRecord(given['preconditions']) ? given['preconditions'] : {};
  const policy = typeof propagationPolicy === 'string' ? propagationPolicy : undefined;
  const orphan = typeof orphanDependents === 'boolean' ? orphanDependents : undefined;
  if (policy !== undefined && orphan !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    const message = `Invalid value: ${quoteGo(policy)}: ${why}`;
    causes.push(cause('FieldValueInvalid', 'propagationPolicy', message));
  }
  if (policy !== undefined && !policies.includes(policy)) {
    const supported = [...policies, 'nil'].map((one) => JSON.stringify(one)).join(', ');
    const message = `Unsupported value: ${quoteGo(policy)}: supported values: ${supported}`;
    causes.push(cause('FieldValueNotSupported', 'propagationPolicy', message));
  }
  const inBody = Array.isArray(given['dryRun']) ? given['dryRun'].map(String) : [];
  const dryRun = dryRunOf([...inBody, ...query.getAll('dryRun')], causes);
  if (causes.length > 0) throw invalid('meta.k8s.io', 'DeleteOptions', '', causes);
  const { uid, resourceVersion } = preconditions;
  const asked = policy ?? (orphan === undefined ? undefined : orphan ? 'Orphan' : 'Background');
  return {
    dryRun,
    ...(asked !== undefined && { propagationPolicy: asked as 'Background' }),
    ...(isWhole(grace) && { gracePeriodSeconds: wholeSeconds(grace) }),
    ...(typeof uid === 'string' && { uid }),
    ...(typeof resourceVersion === 'string' && { resourceVersion }),
  };
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}
