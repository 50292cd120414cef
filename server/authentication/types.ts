import type { ApiServerOptions } from '../../apiserver/options.ts';
import type { Logger } from '../../kube/log.ts';
import type { Settings } from '../settings.ts';

/** Who is known by what the administrator set, beside those who always are. */
export type Authentication = Pick<ApiServerOptions, 'authenticate'> & Pick<ApiServerOptions, 'anonymous'>;

export interface LoadOptions {
  settings: Settings;
  signal: AbortSignal;
  logger: Logger;
}
