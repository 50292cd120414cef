import { rm } from 'node:fs/promises';
import { FailedError } from '../errors.ts';
import { type Provider, sessionFile } from './provider.ts';
import { locked, readSession, type Session } from './session.ts';

/** What was ended, and whether the issuer takes the refresh token no more; `none`: there was no such token. */
export interface Ended {
  session: Session;
  refreshToken: 'none' | 'revoked' | 'not revocable';
}

/**
 * What was kept is removed, and the issuer is asked to take back what could be refreshed: https://www.rfc-editor.org/rfc/rfc7009.
 * It is removed first: whoever the issuer does not answer is signed out here, and FailedError says what is not. Undefined:
 * nobody was signed in.
 */
export function endSession(provider: Provider): Promise<Ended | undefined> {
  const file = sessionFile(provider);
  return locked(file, async () => {
    const session = await readSession(file);
    await rm(file, { force: true });
    if (session === undefined) return undefined;
    const { refreshToken, clientSecret } = session;
    if (refreshToken === undefined) return { session, refreshToken: 'none' };
    try {
      const { discover, revoked } = await import('./issuer.ts');
      const taken = await revoked(await discover(provider, clientSecret), refreshToken);
      return { session, refreshToken: taken ? 'revoked' : 'not revocable' };
    } catch (error) {
      if (!(error instanceof FailedError)) throw error;
      throw new FailedError(
        `signed out here, but the refresh token was not taken back, and counts there until it ends: ${error.message}`,
      );
    }
  });
}
