import type { Setting } from '../authentication/settings.ts';

/** Rows of the table of settings: who decides who may do what. */
export const authorizationSettings = {
  authorizationConfig: {
    flag: 'authorization-config',
    variable: 'ATOLL_AUTHORIZATION_CONFIG',
    placeholder: 'FILE',
    default: 'none',
    help: 'an AuthorizationConfiguration: webhooks that are asked beside RBAC, or in place of it; read again when it changes',
  },
} satisfies Record<string, Setting>;
