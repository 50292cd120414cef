/**
 * Which names Kubernetes accepts. Each check answers the messages kube-apiserver would put into a field error,
 * none when the value is fine. https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */
const dns1123Label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123Subdomain = `${dns1123Label}(\\.${dns1123Label})*`;
const dns1035Label = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualifiedName})?`;

const label1123Pattern = new RegExp(`^${dns1123Label}$`);
const subdomainPattern = new RegExp(`^${dns1123Subdomain}$`);
const label1035Pattern = new RegExp(`^${dns1035Label}$`);
const qualifiedNamePattern = new RegExp(`^${qualifiedName}$`);
const labelValuePattern = new RegExp(`^${labelValue}$`);

/** Of labels and keys. */
export function maxLengthMessage(bytes: number): string {
  return `must be no more than ${bytes} bytes`;
}

/** Of DNS names and what is like them; counted in bytes all the same. */
export function maxCharactersMessage(bytes: number): string {
  return `must be no more than ${bytes} characters`;
}

/** As Kubernetes tells what a text has to look like. */
export function patternMessage(rule: string, pattern: string, ...examples: string[]): string {
  return `${rule} (e.g. ${examples.map((e) => `'${e}'`).join(',  or ')}, regex used for validation is '${pattern}')`;
}

function tooLong(value: string, limit: number): boolean {
  return value.length > limit || Buffer.byteLength(value) > limit;
}

const alphanumericEnds = 'and must start and end with an alphanumeric character';

export function validateDns1123Label(value: string): string[] {
  const messages = tooLong(value, 63) ? [maxCharactersMessage(63)] : [];
  if (label1123Pattern.test(value)) return messages;
  const rule = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${alphanumericEnds}`;
  messages.push(
    subdomainPattern.test(value)
      ? 'must not contain dots'
      : patternMessage(rule, dns1123Label, 'my-name', '123-abc'),
  );
  return messages;
}

export function validateDns1123Subdomain(value: string): string[] {
  const messages = tooLong(value, 253) ? [maxCharactersMessage(253)] : [];
  if (!subdomainPattern.test(value)) {
    const rule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${alphanumericEnds}`;
    messages.push(patternMessage(rule, dns1123Subdomain, 'example.com'));
  }
  return messages;
}

const searchLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const searchDomain = `${searchLabel}(\\.${searchLabel})*`;
const searchDomainPattern = new RegExp(`^${searchDomain}$`);

/** A domain that resolvers search: labels may have underscores. */
export function validateSearchDomain(value: string): string[] {
  const messages = tooLong(value, 253) ? [maxCharactersMessage(253)] : [];
  if (!searchDomainPattern.test(value)) {
    const rule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', ${alphanumericEnds}`;
    messages.push(patternMessage(rule, searchDomain, 'example.com'));
  }
  return messages;
}

export function validateDns1035Label(value: string): string[] {
  const messages = tooLong(value, 63) ? [maxCharactersMessage(63)] : [];
  if (!label1035Pattern.test(value)) {
    const rule =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    messages.push(patternMessage(rule, dns1035Label, 'my-name', 'abc-123'));
  }
  return messages;
}

/** RBAC kinds and a few others: anything that fits between two slashes. */
export function validatePathSegmentName(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return validatePathSegmentPrefix(value);
}

/** For generateName: what follows may still make `.` a good name. */
export function validatePathSegmentPrefix(value: string): string[] {
  return ['/', '%'].filter((c) => value.includes(c)).map((c) => `may not contain '${c}'`);
}

function inBytes(message: string): string {
  return message === maxCharactersMessage(253) ? maxLengthMessage(253) : message;
}

/** A label key, an annotation key (given in lower case), a finalizer: `[prefix/]name`. */
export function validateQualifiedName(value: string): string[] {
  const rule = `must consist of alphanumeric characters, '-', '_' or '.', ${alphanumericEnds}`;
  const explain = (lead: string) =>
    `${lead}${patternMessage(rule, qualifiedName, 'MyName', 'my.name', '123-abc')}`;
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `${explain('a valid label key ')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const messages: string[] = [];
  const name = parts[parts.length - 1] ?? '';
  if (parts.length === 2) {
    const prefix = parts[0] ?? '';
    if (prefix === '') messages.push('prefix part must be non-empty');
    else messages.push(...validateDns1123Subdomain(prefix).map((m) => `prefix part ${inBytes(m)}`));
  }
  if (name === '') messages.push('name part must be non-empty');
  else if (tooLong(name, 63)) messages.push(`name part ${maxLengthMessage(63)}`);
  if (!qualifiedNamePattern.test(name)) messages.push(explain('name part '));
  return messages;
}

export function validateLabelValue(value: string): string[] {
  const messages = tooLong(value, 63) ? [maxLengthMessage(63)] : [];
  if (!labelValuePattern.test(value)) {
    const rule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ${alphanumericEnds}`;
    messages.push(patternMessage(rule, labelValue, 'MyValue', 'my_value', '12345'));
  }
  return messages;
}

/**
 * For generateName: a base may end in `-`, since a suffix follows. Give the kind's own name check.
 * A base of one dash becomes `a`, as kube-apiserver masks it.
 */
export function validateGenerateName(base: string, validateName: (name: string) => string[]): string[] {
  return validateName(base.length > 1 && base.endsWith('-') ? `${base.slice(0, -2)}a` : base);
}

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const generatedSuffixLength = 5;
const generatedNameLength = 63;

/** No vowels, no look-alikes: the alphabet of generated names. */
export function randomSuffix(length = generatedSuffixLength, random: () => number = Math.random): string {
  let suffix = '';
  for (let i = 0; i < length; i++) suffix += suffixAlphabet[Math.floor(random() * suffixAlphabet.length)];
  return suffix;
}

/** `base` cut so that base and suffix fit into 63 bytes, then five random characters. */
export function generateName(base: string, random: () => number = Math.random): string {
  return `${base.slice(0, generatedNameLength - generatedSuffixLength)}${randomSuffix(generatedSuffixLength, random)}`;
}

/** Namespaces that no API server lets go. */
export const undeletableNamespaces: ReadonlySet<string> = new Set(['default', 'kube-public', 'kube-system']);
