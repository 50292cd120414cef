import type { Authentication, LoadOptions } from './types.ts';

/** What is not set is not even imported. Throws UsageError for a file that says what it cannot mean. */
export async function loadAuthentication(options: LoadOptions): Promise<Authentication> {
  const { authenticationConfig } = options.settings;
  const authenticate: Authentication['authenticate'][number][] = [];
  if (authenticationConfig === undefined) return { authenticate };
  const { configured } = await import('./configuration.ts');
  const { authenticator, anonymous } = await configured(authenticationConfig, options);
  return { authenticate: [authenticator], anonymous };
}
