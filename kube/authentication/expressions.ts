import type { Declarations } from '../cel/typed/environment.ts';
import { any, listOf, mapOf, string, struct } from '../cel/typed/types.ts';

const userFields = new Map([
  ['username', string],
  ['uid', string],
  ['groups', listOf(string)],
  ['extra', mapOf(string, listOf(string))],
]);

/** What a rule or a mapping of claims can name. */
export const claimsDeclarations: Declarations = {
  variables: new Map([['claims', mapOf(string, any)]]),
  fields: () => undefined,
};

/** What a rule about the user that came of them can name. */
export const userDeclarations: Declarations = {
  variables: new Map([['user', struct('kubernetes.UserInfo')]]),
  fields: (message) => (message === 'kubernetes.UserInfo' ? (name) => userFields.get(name) : undefined),
};
