import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { View } from '../apiserver/options.ts';
import { StatusError } from '../kube/status.ts';
import { backupBytes } from '../storage/backup.ts';
import type { Store } from '../storage/store.ts';

/** Where a running server hands out a backup of its store. */
export const backupPath = '/backup';

/**
 * GET /backup: the store as of one revision, while the server goes on; see storage/backup.ts for the bytes, whose
 * last line is missing when it broke off. All secrets are in it, so it is for system:masters alone.
 */
export function backupView(store: Store): View {
  return {
    owns: (path) => path === backupPath,
    authorize: ({ user }) => ({ allowed: user.groups.includes(mastersGroup) }),
    async handle({ info, request: { method } }) {
      if (method !== 'GET') {
        throw new StatusError(405, 'MethodNotAllowed', `cannot ${info.verb} path "${backupPath}"`, {});
      }
      const headers = { 'content-type': 'application/octet-stream' };
      return { status: 200, headers, body: backupBytes(store) };
    },
  };
}
