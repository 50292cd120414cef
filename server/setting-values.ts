import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { withoutLast } from '../kube/trim.ts';
import { parseRange } from '../kube/validation/ip.ts';
import { UsageError } from './errors.ts';
import {
  type Controllers,
  controllerSets,
  type LogLevel,
  logLevels,
  type SettingName,
  type Settings,
  settings,
} from './setting-table.ts';

/* What a setting says, from what is written. Each throws UsageError. */

export function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:]*)):(\d{1,5})$/i.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new UsageError(`--listen ${text}: expected HOST:PORT, such as 127.0.0.1:6443`);
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

export function parseAdvertise(text: string): Pick<Settings, 'advertise'> {
  if (text === settings.advertiseAddress.default) return {};
  const [, v6, name, digits] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = isIP(text) === 6 ? text : (v6 ?? name ?? '');
  const port = isIP(text) === 6 || digits === undefined ? {} : { port: Number(digits) };
  if (!isName(host) || host.startsWith('*') || Number(port.port ?? 1) > 65_535 || port.port === 0)
    throw new UsageError(
      `--advertise-address ${text}: expected HOST or HOST:PORT, such as atoll.example.com:443`,
    );
  return { advertise: { host, ...port } };
}

export function parseNames(text: string): string[] {
  // An empty list in the file is empty text.
  if (text === settings.tlsSan.default || text === '') return [];
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!isName(name))
      throw new UsageError(
        `--tls-san ${name}: expected a DNS name or an IP address, such as atoll.example.com`,
      );
  }
  return names;
}

export function parseCidrs(flag: string, text: string): string[] {
  if (text === 'none' || text === '') return [];
  const ranges = text.split(',').map((range) => range.trim());
  for (const range of ranges) {
    if (parseRange(range) === undefined)
      throw new UsageError(`--${flag} ${range}: expected a CIDR, such as 10.0.0.0/8 or fd00::/8`);
  }
  return ranges;
}

/** Of DNS, where the first label may be `*`, or an IP address. */
function isName(text: string): boolean {
  return (
    isIP(text) !== 0 || /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(text)
  );
}

export function certificateFiles(
  certificate: string,
  privateKey: string,
): Pick<Settings, 'certificateFiles'> {
  const given = [certificate, privateKey].filter(
    (file) => file !== settings.tlsCertFile.default && file !== '',
  );
  if (given.length === 0) return {};
  if (given.length === 1) throw new UsageError('--tls-cert-file and --tls-private-key-file go together');
  return { certificateFiles: { certificate: resolve(certificate), privateKey: resolve(privateKey) } };
}

/** Absent where none is named. */
export function fileOf<N extends SettingName>(name: N, text: string): { [K in N]?: string } {
  return text === settings[name].default || text === ''
    ? {}
    : ({ [name]: resolve(text) } as { [K in N]?: string });
}

/** `raw` has a setting's text. */
export function encryption(
  raw: (name: SettingName) => string,
): Pick<Settings, 'encryptionProviderConfig' | 'encryptionProviderConfigAutomaticReload'> {
  const file = fileOf('encryptionProviderConfig', raw('encryptionProviderConfig'));
  const { flag } = settings.encryptionProviderConfigAutomaticReload;
  const reload = parseWhether(flag, raw('encryptionProviderConfigAutomaticReload'));
  if (reload && file.encryptionProviderConfig === undefined)
    throw new UsageError(`--${flag} must be set with --${settings.encryptionProviderConfig.flag}`);
  return { ...file, encryptionProviderConfigAutomaticReload: reload };
}

const ofProxies: readonly SettingName[] = [
  'requestheaderAllowedNames',
  'requestheaderUsernameHeaders',
  'requestheaderUidHeaders',
  'requestheaderGroupHeaders',
  'requestheaderExtraHeadersPrefix',
];

/** `raw` has a setting's text. Absent without the authority of the proxies, of whom nothing may be said then. */
export function requestHeader(raw: (name: SettingName) => string): Pick<Settings, 'requestHeader'> {
  const { requestheaderClientCaFile: file } = fileOf(
    'requestheaderClientCaFile',
    raw('requestheaderClientCaFile'),
  );
  if (file === undefined) {
    const said = ofProxies.find((name) => raw(name) !== settings[name].default);
    if (said === undefined) return {};
    throw new UsageError(
      `--${settings[said].flag}: no proxy is believed without --requestheader-client-ca-file`,
    );
  }
  const names = (name: SettingName) => namesIn(settings[name].flag, raw(name));
  const allowed = raw('requestheaderAllowedNames');
  return {
    requestHeader: {
      clientCaFile: file,
      allowedNames: allowed === settings.requestheaderAllowedNames.default ? [] : commonNames(allowed),
      username: names('requestheaderUsernameHeaders'),
      uid: names('requestheaderUidHeaders'),
      group: names('requestheaderGroupHeaders'),
      extraPrefix: names('requestheaderExtraHeadersPrefix'),
    },
  };
}

/** None, as kube-apiserver takes `--requestheader-allowed-names=`, are all. */
function commonNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function namesIn(flag: string, text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!/^[-\w!#$%&'*+.^`|~]+$/.test(name))
      throw new UsageError(`--${flag} ${text}: expected names of headers`);
  }
  return names;
}

export function parseWhether(flag: string, text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new UsageError(`--${flag} ${text}: expected true or false`);
  return text === 'true';
}

export function budget(text: string): { memoryBudget?: number } {
  if (text === settings.memoryBudget.default) return {};
  return { memoryBudget: sizeOf('--memory-budget', text, 'such as 512Mi or 4Gi, or all') };
}

/** Bytes. */
export function sizeOf(flag: string, text: string, such: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})(Ki|Mi|Gi|)$/.exec(text) ?? [];
  if (digits === undefined) throw new UsageError(`${flag} ${text}: expected a size ${such}`);
  return Number(digits) * 1024 ** ['', 'Ki', 'Mi', 'Gi'].indexOf(unit);
}

export function parseIssuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url?.protocol === 'https:' && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!isPlain)
    throw new UsageError(
      `--service-account-issuer ${text}: expected a URL such as https://atoll.example.com`,
    );
  return withoutLast(text, '/');
}

export function parseSeconds(flag: string, text: string): number {
  const seconds = Number(text.trim() || 'none');
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > 3600) {
    throw new UsageError(`--${flag} ${text}: expected a number from 0 to 3600`);
  }
  return seconds;
}

export function parseCount(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${flag} ${text}: expected a whole number, 0 or more`);
  return Number(text);
}

export function processes(text: string): number {
  // One processor for the first process, one for what the kernel, the collector of garbage and the disk need.
  if (text === settings.servingProcesses.default) return Math.max(0, availableParallelism() - 2);
  return parseCount('serving-processes', text);
}

export function ownProcess(text: string): boolean {
  if (text === settings.controllersProcess.default) return availableParallelism() > 1;
  if (text !== 'on' && text !== 'off') {
    throw new UsageError(`--controllers-process ${text}: expected on, off or auto`);
  }
  return text === 'on';
}

export function parseControllers(text: string): Controllers {
  const set = controllerSets.find((known) => known === text);
  if (!set) throw new UsageError(`--controllers ${text}: expected one of ${controllerSets.join(', ')}`);
  return set;
}

export function parseLevel(text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (!level) throw new UsageError(`--log-level ${text}: expected one of ${logLevels.join(', ')}`);
  return level;
}
