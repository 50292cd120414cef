import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { decodeYaml } from '../kube/yaml.ts';
import { auditOf } from './audit/settings.ts';
import { UsageError } from './errors.ts';
import { logicalClusterMax } from './limit-settings.ts';
import { type Controllers, type SettingName, type Settings, settings } from './setting-table.ts';
import {
  budget,
  certificateFiles,
  encryption,
  fileOf,
  ownProcess,
  parseAdvertise,
  parseCidrs,
  parseControllers,
  parseCount,
  parseIssuer,
  parseLevel,
  parseListen,
  parseNames,
  parseSeconds,
  parseWhether,
  processes,
  requestHeader,
  sizeOf,
} from './setting-values.ts';

export { type Controllers, type Settings, settings };

export type RawSettings = Partial<Record<keyof typeof settings, string>>;

/** Flags win over ATOLL_* variables, those over the file, that over the defaults. Throws UsageError. */
export function resolveSettings(
  flags: RawSettings,
  file: string | undefined,
  env: NodeJS.ProcessEnv,
  defaults: RawSettings = {},
): Settings {
  const fromFile = file === undefined ? {} : readSettingsFile(file);
  // A variable that is set to nothing says nothing.
  const raw = (name: keyof typeof settings): string =>
    flags[name] ??
    (env[settings[name].variable] || undefined) ??
    fromFile[name] ??
    defaults[name] ??
    settings[name].default;
  const dataDir = raw('dataDir');
  if (dataDir === '') throw new UsageError('--data-dir must name a directory');
  return {
    dataDir: resolve(dataDir),
    storage: storageUrl(raw('storage'), resolve(dataDir)),
    ...budget(raw('memoryBudget')),
    diskReserve: sizeOf('--disk-reserve', raw('diskReserve'), 'such as 128Mi or 1Gi, or 0'),
    listen: parseListen(raw('listen')),
    ...parseAdvertise(raw('advertiseAddress')),
    tlsSan: parseNames(raw('tlsSan')),
    ...certificateFiles(raw('tlsCertFile'), raw('tlsPrivateKeyFile')),
    serviceAccountIssuer: parseIssuer(raw('serviceAccountIssuer')),
    ...fileOf('authenticationConfig', raw('authenticationConfig')),
    ...fileOf('tokenAuthFile', raw('tokenAuthFile')),
    enableBootstrapTokenAuth: parseWhether('enable-bootstrap-token-auth', raw('enableBootstrapTokenAuth')),
    ...fileOf('authenticationTokenWebhookConfigFile', raw('authenticationTokenWebhookConfigFile')),
    ...fileOf('authorizationConfig', raw('authorizationConfig')),
    ...requestHeader(raw),
    ...encryption(raw),
    ...auditOf(raw),
    ...fileOf('tracingConfigFile', raw('tracingConfigFile')),
    settleSeconds: parseSeconds('settle-seconds', raw('settleSeconds')),
    controllers: parseControllers(raw('controllers')),
    maxRequestsInflight: parseCount('max-requests-inflight', raw('maxRequestsInflight')),
    maxMutatingRequestsInflight: parseCount(
      'max-mutating-requests-inflight',
      raw('maxMutatingRequestsInflight'),
    ),
    ...logicalClusterMax(raw),
    servingProcesses: processes(raw('servingProcesses')),
    controllersProcess: ownProcess(raw('controllersProcess')),
    shutdownDelay: parseSeconds('shutdown-delay', raw('shutdownDelay')),
    egressAllow: parseCidrs('egress-allow', raw('egressAllow')),
    egressDeny: parseCidrs('egress-deny', raw('egressDeny')),
    logLevel: parseLevel(raw('logLevel')),
  };
}

/** The URL with its directory made absolute; the default is in the data directory. Throws UsageError. */
export function storageUrl(url: string, dataDir: string): string {
  if (url === settings.storage.default) return `level:${join(dataDir, 'store')}`;
  const [, scheme, rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  if (scheme === 'etcd' && rest.startsWith('//')) return url;
  if (scheme === 'level' && rest !== '') return `level:${resolve(rest)}`;
  throw new UsageError(`--storage ${url}: expected level:DIRECTORY or etcd://HOST:PORT,...`);
}

function readSettingsFile(file: string): RawSettings {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--config ${file} cannot be read: ${(error as Error).message}`);
  }
  const value = decoded(file, text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new UsageError(`--config ${file} must be a YAML mapping of settings`);
  }
  const byFlag = new Map(Object.entries(settings).map(([name, setting]) => [setting.flag, name]));
  const found: RawSettings = {};
  for (const [key, entry] of Object.entries(value)) {
    const name = byFlag.get(key);
    if (name === undefined) {
      throw new UsageError(
        `--config ${file}: unknown setting "${key}"; known: ${[...byFlag.keys()].join(', ')}`,
      );
    }
    const many = settings[name as SettingName].repeatable === true && Array.isArray(entry);
    if (!many && typeof entry !== 'string' && typeof entry !== 'number')
      throw new UsageError(`--config ${file}: "${key}" must be a string or a number`);
    // A list's elements stand with commas between, as in a variable.
    found[name as keyof RawSettings] = String(entry);
  }
  return found;
}

function decoded(file: string, text: string): unknown {
  try {
    return decodeYaml(text).value;
  } catch (error) {
    throw new UsageError(`--config ${file}: ${(error as Error).message}`);
  }
}
