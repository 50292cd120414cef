import { isObject } from '../../kube/deep.ts';
import type { StatusCause } from '../../kube/status.ts';
import { badRequest, invalid } from '../../kube/status.ts';
import type { Exchange } from '../core.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { type FieldValidation, parseBody } from './body.ts';
import { bodyEncoding } from './media.ts';

const managerLimit = 128;

export interface WriteQuery {
  dryRun: boolean;
  manager: string;
  validation: FieldValidation;
  force: boolean;
}

/** The query of create, update and patch. `kind` names the options in messages: CreateOptions, PatchOptions. */
export function writeQuery(
  exchange: Exchange,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteQuery {
  const { query } = exchange.info;
  const causes: StatusCause[] = [];
  const given = query.get('fieldManager') ?? '';
  if (apply && given === '') {
    causes.push(cause('FieldValueRequired', 'fieldManager', 'Required value: is required for apply patch'));
  }
  if (kind === 'PatchOptions' && !apply && query.has('force')) {
    causes.push(cause('FieldValueForbidden', 'force', 'Forbidden: may not be specified for non-apply patch'));
  }
  if (Buffer.byteLength(given) > managerLimit) {
    causes.push(
      cause('FieldValueTooLong', 'fieldManager', `Too long: may not be more than ${managerLimit} bytes`),
    );
  }
  const dryRun = dryRunOf(query.getAll('dryRun'), causes);
  const validation = query.get('fieldValidation') || 'Warn';
  if (validation !== 'Strict' && validation !== 'Warn' && validation !== 'Ignore') {
    const why = `Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`;
    causes.push(cause('FieldValueNotSupported', 'fieldValidation', why));
  }
  if (causes.length > 0) throw invalid('meta.k8s.io', kind, '', causes);
  return {
    dryRun,
    manager: given || managerFromAgent(exchange.request.headers['user-agent']),
    validation: validation as FieldValidation,
    force: query.get('force') === 'true' || query.get('force') === '1',
  };
}

function managerFromAgent(agent: string | undefined): string {
  const name = (agent ?? '').split('/')[0]?.replace(/[^ -~]/g, '') ?? '';
  return name.slice(0, managerLimit) || 'unknown';
}

function dryRunOf(values: readonly string[], causes: StatusCause[]): boolean {
  const set = values.filter((value) => value !== '');
  if (set.length > 0 && set.some((value) => value !== 'All')) {
    const list = set.map((value) => JSON.stringify(value)).join(',');
    causes.push(
      cause('FieldValueNotSupported', 'dryRun', `Unsupported value: [${list}]: supported values: "All"`),
    );
  }
  return set.length > 0;
}

function cause(reason: string, field: string, message: string): StatusCause {
  return { reason, field, message };
}

const policies = ['Background', 'Foreground', 'Orphan'];

/** DeleteOptions from the body or, without one, from the query. */
export function deleteOptions(exchange: Exchange): DeleteOptions {
  const { request, info } = exchange;
  const body = request.body;
  if (body !== undefined && body.length > 0) {
    const encoding = bodyEncoding(request.headers['content-type'], undefined);
    const expected = { group: '', version: 'v1', kind: 'DeleteOptions' };
    return checkDeleteOptions(parseBody(body, encoding, expected).value, info.query);
  }
  const { query } = info;
  const grace = query.get('gracePeriodSeconds');
  return checkDeleteOptions(
    {
      propagationPolicy: query.get('propagationPolicy'),
      gracePeriodSeconds: grace === null ? null : Number(grace),
      ...(query.has('orphanDependents') && { orphanDependents: query.get('orphanDependents') === 'true' }),
    },
    query,
  );
}

/** As deleteOptions, of a DeleteOptions that came inside something else. */
export function checkDeleteOptions(given: Record<string, unknown>, query: URLSearchParams): DeleteOptions {
  const causes: StatusCause[] = [];
  const { propagationPolicy, orphanDependents, gracePeriodSeconds: grace } = given;
  const preconditions = isObject(given['preconditions']) ? given['preconditions'] : {};
  let policy = propagationPolicy ?? undefined;
  if (orphanDependents === true || orphanDependents === false) {
    policy ??= orphanDependents ? 'Orphan' : 'Background';
  }
  if (policy !== undefined && policy !== '' && !policies.includes(String(policy))) {
    const why = `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`;
    causes.push(cause('FieldValueNotSupported', 'propagationPolicy', why));
  }
  const inBody = Array.isArray(given['dryRun']) ? given['dryRun'].map(String) : [];
  const dryRun = dryRunOf([...inBody, ...query.getAll('dryRun')], causes);
  if (grace !== null && grace !== undefined && !Number.isInteger(grace)) {
    throw badRequest('gracePeriodSeconds must be a whole number');
  }
  if (causes.length > 0) throw invalid('meta.k8s.io', 'DeleteOptions', '', causes);
  const { uid, resourceVersion } = preconditions;
  return {
    dryRun,
    ...(policy && { propagationPolicy: policy as 'Background' }),
    ...(typeof grace === 'number' && { gracePeriodSeconds: grace }),
    ...(typeof uid === 'string' && { uid }),
    ...(typeof resourceVersion === 'string' && { resourceVersion }),
  };
}
