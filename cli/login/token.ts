import { FailedError } from '../errors.ts';
import { argumentsOf, type Provider, sessionFile } from './provider.ts';
import { locked, readSession, type Session, writeSession } from './session.ts';

/** Near their end tokens are replaced: a minute before, or a fifth of their life where that is less. */
export function isFresh({ issued, expires }: Session, now: number): boolean {
  return now < expires - Math.min(60, Math.max(0, expires - issued) / 5);
}

const seconds = () => Date.now() / 1000;

/**
 * The one that was kept, or that it was refreshed to, by one process of all that ask at once. When there is neither,
 * somebody signs in if `say` leads to anybody. Throws FailedError.
 */
export async function currentSession(
  provider: Provider,
  say: ((line: string) => void) | undefined,
): Promise<Session> {
  const file = sessionFile(provider);
  const kept = await readSession(file);
  if (kept && isFresh(kept, seconds())) return kept;
  return locked(file, async () => {
    const session = await readSession(file);
    if (session && isFresh(session, seconds())) return session;
    const next = session && (await refreshedOrKept(provider, session, file));
    if (next) return next;
    if (say === undefined) throw new FailedError(`${why(session)}: run ${again(provider)}`);
    return signInAndKeep(provider, session?.clientSecret, say);
  });
}

/** Somebody signs in, whatever was kept before. Throws FailedError. */
export function newSession(
  provider: Provider,
  clientSecret: string | undefined,
  say: (line: string) => void,
): Promise<Session> {
  const file = sessionFile(provider);
  return locked(file, async () =>
    signInAndKeep(provider, clientSecret ?? (await readSession(file))?.clientSecret, say),
  );
}

/** Undefined: somebody must sign in. */
async function refreshedOrKept(
  provider: Provider,
  session: Session,
  file: string,
): Promise<Session | undefined> {
  const isGood = () => seconds() < session.expires;
  if (session.refreshToken === undefined) return isGood() ? session : undefined;
  const { discover, EndedError, refreshed } = await import('./issuer.ts');
  try {
    const next = await refreshed(await discover(provider, session.clientSecret), session);
    await writeSession(file, next);
    return next;
  } catch (error) {
    if (isGood()) return session;
    if (!(error instanceof EndedError)) throw error;
    const { refreshToken: _, ...rest } = session;
    await writeSession(file, rest);
    return undefined;
  }
}

async function signInAndKeep(
  provider: Provider,
  clientSecret: string | undefined,
  say: (line: string) => void,
): Promise<Session> {
  const [{ discover }, { signIn }] = await Promise.all([import('./issuer.ts'), import('./sign-in.ts')]);
  const session = await signIn(await discover(provider, clientSecret), say);
  await writeSession(sessionFile(provider), session);
  return session;
}

function why(session: Session | undefined): string {
  return session === undefined ? 'nobody has signed in' : 'the login has ended';
}

/** The command that signs in again, for a shell. */
function again(provider: Provider): string {
  const quoted = (word: string) =>
    /^[\w:/.,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return ['atoll', 'login', ...argumentsOf(provider)].map(quoted).join(' ');
}
