import type { ApiResponse } from '../../kube/http.ts';
import type { Exchange } from '../core.ts';

/** /openapi/v2 and /openapi/v3. `undefined`: another path. */
export function handleOpenApi(_exchange: Exchange): Promise<ApiResponse> | undefined {
  return undefined;
}
