import { readFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { decodeYaml } from '../kube/yaml.ts';
import { UsageError } from './errors.ts';

/** What `atoll start` and `atoll demo` can be told. docs/reference/settings.md is this table for people. */
export interface Settings {
  dataDir: string;
  /** As storage/open.ts takes it; a password may be in it. */
  storage: string;
  /** Bytes; absent: no limit. */
  memoryBudget?: number;
  listen: { host: string; port: number };
  settleSeconds: number;
  controllers: Controllers;
  /** Requests at a time that read or write; 0: no limit. */
  maxRequestsInflight: number;
  maxMutatingRequestsInflight: number;
  /** How many processes may serve requests beside the first one. */
  servingProcesses: number;
  /** How long /readyz fails before the server stops to serve. */
  shutdownDelay: number;
  logLevel: LogLevel;
}

export const controllerSets = ['all', 'api'] as const;
export type Controllers = (typeof controllerSets)[number];

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

interface Setting {
  flag: string;
  variable: string;
  placeholder: string;
  default: string;
  help: string;
}

/** One row per setting: the flag, its variable, what the file calls it (the flag without dashes), the default. */
export const settings: Record<keyof Settings, Setting> = {
  dataDir: {
    flag: 'data-dir',
    variable: 'ATOLL_DATA_DIR',
    placeholder: 'DIR',
    default: join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'atoll'),
    help: 'where the store and admin.kubeconfig live',
  },
  storage: {
    flag: 'storage',
    variable: 'ATOLL_STORAGE',
    placeholder: 'URL',
    default: 'level:DIR/store',
    help: 'level:DIRECTORY, or etcd://HOST:PORT,... that any number of servers share',
  },
  memoryBudget: {
    flag: 'memory-budget',
    variable: 'ATOLL_MEMORY_BUDGET',
    placeholder: 'SIZE',
    default: 'all',
    help: 'how much of the stored values stays in memory, such as 512Mi; of level: only',
  },
  listen: {
    flag: 'listen',
    variable: 'ATOLL_LISTEN',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:6443',
    help: 'address of the API; port 0 picks a free one',
  },
  settleSeconds: {
    flag: 'settle-seconds',
    variable: 'ATOLL_SETTLE_SECONDS',
    placeholder: 'N',
    default: '2',
    help: 'how long a joining copy must stay ready before the old one shrinks',
  },
  controllers: {
    flag: 'controllers',
    variable: 'ATOLL_CONTROLLERS',
    placeholder: 'WHICH',
    default: 'all',
    help: 'all, or api: only what kube-apiserver does itself, where others lead or nobody should',
  },
  maxRequestsInflight: {
    flag: 'max-requests-inflight',
    variable: 'ATOLL_MAX_REQUESTS_INFLIGHT',
    placeholder: 'N',
    default: '400',
    help: 'how many reads may be at work at a time, watches and logs apart; beyond, 429; 0: any number',
  },
  maxMutatingRequestsInflight: {
    flag: 'max-mutating-requests-inflight',
    variable: 'ATOLL_MAX_MUTATING_REQUESTS_INFLIGHT',
    placeholder: 'N',
    default: '200',
    help: 'the same for writes',
  },
  servingProcesses: {
    flag: 'serving-processes',
    variable: 'ATOLL_SERVING_PROCESSES',
    placeholder: 'N',
    default: 'auto',
    help: 'how many processes may serve beside the first while that is busy; auto: two less than processors',
  },
  shutdownDelay: {
    flag: 'shutdown-delay',
    variable: 'ATOLL_SHUTDOWN_DELAY',
    placeholder: 'SECONDS',
    default: '0',
    help: 'how long /readyz fails before a server that was told to stop does',
  },
  logLevel: {
    flag: 'log-level',
    variable: 'ATOLL_LOG_LEVEL',
    placeholder: 'LEVEL',
    default: 'info',
    help: `${logLevels.join(', ')}; logs are JSON lines on stderr`,
  },
};

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
    listen: parseListen(raw('listen')),
    settleSeconds: parseSeconds('settle-seconds', raw('settleSeconds')),
    controllers: parseControllers(raw('controllers')),
    maxRequestsInflight: parseCount('max-requests-inflight', raw('maxRequestsInflight')),
    maxMutatingRequestsInflight: parseCount(
      'max-mutating-requests-inflight',
      raw('maxMutatingRequestsInflight'),
    ),
    servingProcesses: processes(raw('servingProcesses')),
    shutdownDelay: parseSeconds('shutdown-delay', raw('shutdownDelay')),
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
    if (typeof entry !== 'string' && typeof entry !== 'number')
      throw new UsageError(`--config ${file}: "${key}" must be a string or a number`);
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

function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:]*)):(\d{1,5})$/i.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new UsageError(`--listen ${text}: expected HOST:PORT, such as 127.0.0.1:6443`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

function budget(text: string): { memoryBudget?: number } {
  if (text === settings.memoryBudget.default) return {};
  const [, digits, unit = ''] = /^(\d{1,9})(Ki|Mi|Gi|)$/.exec(text) ?? [];
  if (digits === undefined)
    throw new UsageError(`--memory-budget ${text}: expected a size such as 512Mi or 4Gi, or all`);
  return { memoryBudget: Number(digits) * 1024 ** ['', 'Ki', 'Mi', 'Gi'].indexOf(unit) };
}

function parseSeconds(flag: string, text: string): number {
  const seconds = Number(text.trim() || 'none');
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > 3600) {
    throw new UsageError(`--${flag} ${text}: expected a number from 0 to 3600`);
  }
  return seconds;
}

function parseCount(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${flag} ${text}: expected a whole number, 0 or more`);
  return Number(text);
}

function processes(text: string): number {
  // One processor for the first process, one for what the kernel, the collector of garbage and the disk need.
  if (text === settings.servingProcesses.default) return Math.max(0, availableParallelism() - 2);
  return parseCount('serving-processes', text);
}

function parseControllers(text: string): Controllers {
  const set = controllerSets.find((known) => known === text);
  if (!set) throw new UsageError(`--controllers ${text}: expected one of ${controllerSets.join(', ')}`);
  return set;
}

function parseLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (!level) throw new UsageError(`--log-level ${text}: expected one of ${logLevels.join(', ')}`);
  return level;
}
