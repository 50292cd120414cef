import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { View } from '../apiserver/options.ts';
import { badRequest, StatusError } from '../kube/status.ts';
import type { Store } from '../storage/store.ts';
import { addAccountKey, dropAccountKey, listAccountKeys, type ShownKey } from './account-keys.ts';

/** Where an administrator changes the keys that sign ServiceAccounts' tokens. */
export const accountKeysPath = '/service-account-keys';

/** Who verifies tokens without asking keeps the keys for an hour: see apiserver/info/issuer.ts. */
const knownAfterMs = 3_600_000;

/**
 * GET /service-account-keys: which there are. POST: another, which signs in an hour, or with `?now=true` at once.
 * DELETE with `?kid=`: one whose successor signs; its tokens are nobody's then. For system:masters alone.
 */
export function accountKeysView(): View {
  return {
    owns: (path) => path === accountKeysPath,
    authorize: ({ user }) => ({ allowed: user.groups.includes(mastersGroup) }),
    async handle({ core: { store }, info: { query, verb }, request: { method } }) {
      const answer = answers[method];
      if (answer === undefined) {
        throw new StatusError(405, 'MethodNotAllowed', `cannot ${verb} path "${accountKeysPath}"`, {});
      }
      const body = Buffer.from(`${JSON.stringify({ keys: await answer(store, query) })}\n`);
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  };
}

const answers: Readonly<Record<string, (store: Store, query: URLSearchParams) => Promise<ShownKey[]>>> = {
  GET: listAccountKeys,
  POST: (store, query) =>
    addAccountKey(store, new Date(Date.now() + (query.get('now') === 'true' ? 0 : knownAfterMs))),
  DELETE: (store, query) =>
    dropAccountKey(store, query.get('kid') ?? '').catch((error: unknown) => {
      throw error instanceof RangeError ? badRequest(error.message) : error;
    }),
};
