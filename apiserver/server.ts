import type { ApiServer, ApiServerOptions } from './options.ts';

export type * from './options.ts';
export type * from './registry/types.ts';

export function createApiServer(_options: ApiServerOptions): ApiServer {
  throw new Error('not wired yet');
}
