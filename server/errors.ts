/** The user asked for something that cannot be: exit code 2, one line, no stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
