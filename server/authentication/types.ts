import type { ApiServerOptions } from '../../apiserver/options.ts';
import type { Authenticator } from '../../apiserver/plugins.ts';
import type { Logger } from '../../kube/log.ts';
import type { Settings } from '../settings.ts';
import type { TakenFiles } from '../taken-files.ts';

/** Who is known by what the administrator set, beside those who always are. */
export interface Authentication {
  /** Before anybody else is asked. */
  first: readonly Authenticator[];
  tokens: readonly Authenticator[];
  /** When nobody else knows. */
  last: readonly Authenticator[];
  anonymous?: ApiServerOptions['anonymous'];
}

export interface LoadOptions {
  settings: Settings;
  files: TakenFiles;
  signal: AbortSignal;
  logger: Logger;
}
