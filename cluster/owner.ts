import type { KubeObject } from '../kube/object.ts';
import { ownerAnnotation } from './names.ts';

/**
 * The user to whom the first binding in a Workspace's logical cluster is. Undefined: nobody, or what is written says
 * nobody who could be one. A reserved name there would be the ServiceAccount of that name, or a part of the system.
 */
export function ownerOf({ metadata }: KubeObject): string | undefined {
  const said = metadata.annotations?.[ownerAnnotation];
  if (said === undefined) return undefined;
  const name = usernameIn(said);
  return typeof name === 'string' && name !== '' && !name.startsWith('system:') ? name : undefined;
}

function usernameIn(said: string): unknown {
  try {
    return (JSON.parse(said) as { username?: unknown } | null)?.username;
  } catch {
    return undefined;
  }
}
