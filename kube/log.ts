/**
 * Structured logging, as pino offers it: a constant message, and what varies in `fields`, never in the message.
 * An error goes into `fields.err`.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

function ignore(): void {}

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
