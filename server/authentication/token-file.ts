import { tokenAuthenticator } from '../../apiserver/authn/token.ts';
import type { Authenticator } from '../../apiserver/plugins.ts';
import type { UserInfo } from '../../kube/http.ts';
import { UsageError } from '../errors.ts';
import { followFile } from '../follow-file.ts';
import { readCsv } from './csv.ts';
import type { LoadOptions } from './types.ts';

/** The tokens of `token-auth-file`, as it is now and will be; kept as digests. Throws UsageError. */
export async function fileTokens(
  file: string,
  { files, signal, logger }: LoadOptions,
): Promise<Authenticator> {
  let text = '';
  let now: Authenticator;
  try {
    text = await files.read(file);
    now = tokenAuthenticator(readTokens(text));
  } catch (error) {
    throw new UsageError(`--token-auth-file ${file}: ${(error as Error).message}`);
  }
  void followFile({
    file,
    text,
    files,
    signal,
    logger,
    changed: (next) => {
      now = tokenAuthenticator(readTokens(next));
    },
  });
  return (...asked) => now(...asked);
}

/**
 * `token,user,uid,"group1,group2"`. Of one token that comes twice, the last counts; without a token, none. Throws Error.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
 */
export function readTokens(text: string): Map<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  for (const [index, row] of readCsv(text).entries()) {
    const [token = '', name = '', uid = '', groups = ''] = row;
    if (row.length < 3)
      throw new Error(
        `it must have at least 3 columns (token, user name, user uid), found ${row.length} in record ${index + 1}`,
      );
    if (token === '') continue;
    if (name.startsWith('system:serviceaccount:'))
      throw new Error(`record ${index + 1}: a ServiceAccount is one of a logical cluster`);
    const own = groups.split(',').filter((group) => group !== '');
    users.set(token, { name, ...(uid !== '' && { uid }), groups: own });
  }
  return users;
}
