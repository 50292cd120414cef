import { describe, expect, it } from 'vitest';
import {
  generateName,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateGenerateName,
  validateLabelValue,
  validatePathSegmentName,
  validateQualifiedName,
} from '../../../kube/names.ts';

const ok = (check: (name: string) => string[], name: string) => check(name).length === 0;

describe('names', () => {
  it.each([
    [validateDns1123Label, ['a', '1a', 'a-b', 'a'.repeat(63)], ['', 'A', 'a.b', '-a', 'a-', 'a'.repeat(64)]],
    [validateDns1123Subdomain, ['a', 'a.b', '1.a-b'], ['', 'a..b', '.a', 'a_b', 'a'.repeat(254)]],
    [validateDns1035Label, ['a', 'a-1'], ['', '1a', 'a.b']],
    [validatePathSegmentName, ['a:b', 'A b', '...'], ['.', '..', 'a/b', 'a%b']],
    [
      validateQualifiedName,
      ['a', 'A_b.c', 'example.com/a'],
      ['', '/a', 'a/', 'a/b/c', 'A/b', '-a', 'a'.repeat(64)],
    ],
    [validateLabelValue, ['', 'a', 'A_b.c'], ['-', 'a b', 'a'.repeat(64)]],
  ])('%o', (check, good, bad) => {
    for (const name of good) expect([name, ok(check, name)]).toEqual([name, true]);
    for (const name of bad) expect([name, ok(check, name)]).toEqual([name, false]);
  });

  it('says what kube-apiserver says', () => {
    expect(validateDns1123Subdomain('A')).toEqual([
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]);
    expect(validateDns1123Label('a.b')).toEqual(['must not contain dots']);
    expect(validateDns1123Label('é'.repeat(40))[0]).toBe('must be no more than 63 characters');
    expect(validateQualifiedName('/a')).toEqual(['prefix part must be non-empty']);
  });

  it('is quick with long names', () => {
    // By backtracking these would take longer than any test may.
    expect(validateDns1123Subdomain(`${'a-'.repeat(200_000)}!`)).not.toEqual([]);
    expect(validateQualifiedName(`${'a.'.repeat(200_000)}!`)).not.toEqual([]);
  });

  it('generates names that fit', () => {
    expect(generateName('web-', () => 0)).toBe('web-bbbbb');
    expect(generateName('x'.repeat(80))).toMatch(/^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(ok((n) => validateGenerateName(n, validateDns1123Label), 'web-')).toBe(true);
    expect(ok((n) => validateGenerateName(n, validateDns1123Label), '-')).toBe(false);
  });
});
