/** Its groups: the domain, the path, the tag, the digest. */
const reference =
  /^((?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*)|\[[a-fA-F0-9:]+\])(?::\d+)?\/)?([a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::([\w][\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{32,})?$/;

/** Always for `:latest` and for no tag at all, IfNotPresent for the rest. */
export function defaultPullPolicy(image: string): string {
  const match = reference.exec(image);
  if (!match) return 'IfNotPresent';
  const [, domain, path = '', tag, digest] = match;
  // A path alone is one of Docker's own: library/path.
  if (path.length + (domain || path.includes('/') ? 0 : 8) > 255) return 'IfNotPresent';
  const latest = tag === 'latest' || (tag === undefined && digest === undefined);
  return latest ? 'Always' : 'IfNotPresent';
}
