/** What is wrong with the names in a certificate, in words for whoever asks for it; undefined: nothing. */
export function problemOf({ user, groups }: { user: string; groups: readonly string[] }): string | undefined {
  const reserved = [user, ...groups].find((name) => name.startsWith('system:'));
  if (reserved !== undefined)
    return `${JSON.stringify(reserved)}: names that begin with system: are the system's`;
  if (user === '' || groups.includes('')) return 'a user and groups have names';
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test([user, ...groups].join('')))
    return 'a name has characters that do not print';
  return undefined;
}
