import type { Logger } from '../kube/log.ts';
import { type LogLevel, logLevels } from './setting-table.ts';

/** One JSON object a line on stderr: time, level, message, then the values. Errors show their message and cause. */
export function jsonLogger(level: LogLevel): Logger {
  const threshold = logLevels.indexOf(level);
  const write = (at: LogLevel) => (fields: object, message: string) => {
    if (logLevels.indexOf(at) < threshold) return;
    const line = { ts: new Date().toISOString(), level: at, msg: message, ...fields };
    process.stderr.write(`${printable(JSON.stringify(line, plain))}\n`);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** What Node itself would print as text goes into the log; a terminal that went takes nobody with it. */
export function logProcess(logger: Logger): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  logWarnings(logger);
  process.on('uncaughtException', (err) => {
    logger.error({ err, stack: err.stack }, 'nobody expected this: the process ends');
    process.exit(1);
  });
}

/** From the start on: of what it deprecates Node warns once. */
export function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning').on('warning', (err) => logger.warn({ err }, 'a warning of Node'));
}

/** JSON escapes the control characters of ASCII; terminals know others, and some readers other ends of lines. */
function printable(text: string): string {
  return text.replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, cause } = value;
  const code = (value as { code?: unknown }).code;
  return { name, message, ...(code !== undefined && { code }), ...(cause !== undefined && { cause }) };
}
