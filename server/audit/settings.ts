import { resolve } from 'node:path';
import type { Setting } from '../authentication/settings.ts';
import { UsageError } from '../errors.ts';

export interface AuditSettings {
  policyFile: string;
  log?: { path: string; maxBytes: number; maxAgeDays: number; maxBackups: number; compress: boolean };
  webhook?: {
    configFile: string;
    bufferSize: number;
    batchSize: number;
    maxWaitMs: number;
    backoffMs: number;
  };
}

function row(flag: string, placeholder: string, text: string, help: string): Setting {
  const variable = `ATOLL_${flag.replaceAll('-', '_').toUpperCase()}`;
  return { flag, variable, placeholder, default: text, help };
}

/** Rows of the table of settings: what is recorded of requests, and where. Names and defaults are kube-apiserver's. */
export const auditSettings = {
  auditPolicyFile: row(
    'audit-policy-file',
    'FILE',
    'none',
    'a Policy of audit.k8s.io/v1: what is recorded of which requests',
  ),
  auditLogPath: row('audit-log-path', 'FILE', 'none', 'where events go, one a line; -: to stdout'),
  auditLogMaxsize: row(
    'audit-log-maxsize',
    'N',
    '100',
    'megabytes of that file before it is put aside; 0: any',
  ),
  auditLogMaxage: row(
    'audit-log-maxage',
    'N',
    '366',
    'days for which files that were put aside stay; 0: for ever',
  ),
  auditLogMaxbackup: row(
    'audit-log-maxbackup',
    'N',
    '100',
    'how many files that were put aside stay; 0: all',
  ),
  auditLogCompress: row(
    'audit-log-compress',
    'WHETHER',
    'false',
    'true: files that were put aside are packed by gzip',
  ),
  auditWebhookConfigFile: row(
    'audit-webhook-config-file',
    'FILE',
    'none',
    'a kubeconfig whose server is sent EventLists of audit.k8s.io/v1',
  ),
  auditWebhookBatchBufferSize: row(
    'audit-webhook-batch-buffer-size',
    'N',
    '10000',
    'how many events may wait for the webhook; what comes then is dropped, and counted',
  ),
  auditWebhookBatchMaxSize: row(
    'audit-webhook-batch-max-size',
    'N',
    '400',
    'how many events it is sent at once',
  ),
  auditWebhookBatchMaxWait: row(
    'audit-webhook-batch-max-wait',
    'SECONDS',
    '30',
    'how long fewer are waited for',
  ),
  auditWebhookInitialBackoff: row(
    'audit-webhook-initial-backoff',
    'SECONDS',
    '10',
    'how long after a failure the same events are sent again, each time half as long again, up to four times',
  ),
} satisfies Record<string, Setting>;

type Name = keyof typeof auditSettings;

/** Absent where nothing is recorded. Throws UsageError. */
export function auditOf(raw: (name: Name) => string): { audit?: AuditSettings } {
  const file = (name: Name) => {
    const text = raw(name);
    if (text === auditSettings[name].default || text === '') return undefined;
    return text === '-' ? '-' : resolve(text);
  };
  const policyFile = file('auditPolicyFile');
  const path = file('auditLogPath');
  const configFile = file('auditWebhookConfigFile');
  if (policyFile === undefined) {
    const where =
      path === undefined ? configFile && auditSettings.auditWebhookConfigFile : auditSettings.auditLogPath;
    if (where) throw new UsageError(`--${where.flag} records nothing without --audit-policy-file`);
    return {};
  }
  if (path === undefined && configFile === undefined)
    throw new UsageError('--audit-policy-file needs --audit-log-path or --audit-webhook-config-file');
  return {
    audit: {
      policyFile,
      ...(path !== undefined && { log: logOf(raw, path) }),
      ...(configFile !== undefined && { webhook: webhookOf(raw, configFile) }),
    },
  };
}

function logOf(raw: (name: Name) => string, path: string): NonNullable<AuditSettings['log']> {
  const compress = raw('auditLogCompress');
  if (compress !== 'true' && compress !== 'false')
    throw new UsageError(`--audit-log-compress ${compress}: expected true or false`);
  return {
    path,
    maxBytes: count(raw, 'auditLogMaxsize', 0) * 1024 * 1024,
    maxAgeDays: count(raw, 'auditLogMaxage', 0),
    maxBackups: count(raw, 'auditLogMaxbackup', 0),
    compress: compress === 'true',
  };
}

function webhookOf(raw: (name: Name) => string, configFile: string): NonNullable<AuditSettings['webhook']> {
  return {
    configFile,
    bufferSize: count(raw, 'auditWebhookBatchBufferSize', 1),
    batchSize: count(raw, 'auditWebhookBatchMaxSize', 1),
    maxWaitMs: count(raw, 'auditWebhookBatchMaxWait', 1) * 1000,
    backoffMs: count(raw, 'auditWebhookInitialBackoff', 1) * 1000,
  };
}

function count(raw: (name: Name) => string, name: Name, least: number): number {
  const text = raw(name);
  if (!/^\d{1,6}$/.test(text) || Number(text) < least)
    throw new UsageError(`--${auditSettings[name].flag} ${text}: expected a whole number, ${least} or more`);
  return Number(text);
}
