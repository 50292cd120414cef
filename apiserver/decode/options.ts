import { isPrintable, quoteGo } from '../../kube/quote.ts';
import type { StatusCause } from '../../kube/status.ts';
import { invalid } from '../../kube/status.ts';
import type { Exchange } from '../core.ts';
import type { FieldValidation } from './body.ts';

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
  causes.push(...unprintable(given));
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

/** Positions are counted in bytes. */
function unprintable(manager: string): StatusCause[] {
  const causes: StatusCause[] = [];
  let at = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const why = `invalid character U+${code} (at position ${at})`;
      causes.push(cause('FieldValueInvalid', 'fieldManager', `Invalid value: ${quoteGo(manager)}: ${why}`));
    }
    at += Buffer.byteLength(character);
  }
  return causes;
}

function managerFromAgent(agent: string | undefined): string {
  const name = (agent ?? '').split('/')[0]?.replace(/[^ -~]/g, '') ?? '';
  return name.slice(0, managerLimit) || 'unknown';
}

export function dryRunOf(values: readonly string[], causes: StatusCause[]): boolean {
  if (values.some((value) => value !== 'All')) {
    const list = values.map((value) => JSON.stringify(value)).join(',');
    causes.push(
      cause('FieldValueNotSupported', 'dryRun', `Unsupported value: [${list}]: supported values: "All"`),
    );
  }
  return values.length > 0;
}

export function cause(reason: string, field: string, message: string): StatusCause {
  return { reason, field, message };
}
