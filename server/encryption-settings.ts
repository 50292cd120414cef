import type { Setting } from './authentication/settings.ts';

/** Rows of the table of settings: what is encrypted in the store. */
export const encryptionSettings = {
  encryptionProviderConfig: {
    flag: 'encryption-provider-config',
    variable: 'ATOLL_ENCRYPTION_PROVIDER_CONFIG',
    placeholder: 'FILE',
    default: 'none',
    help: 'an EncryptionConfiguration: what is encrypted in the store, and by which keys',
  },
  encryptionProviderConfigAutomaticReload: {
    flag: 'encryption-provider-config-automatic-reload',
    variable: 'ATOLL_ENCRYPTION_PROVIDER_CONFIG_AUTOMATIC_RELOAD',
    placeholder: 'WHETHER',
    default: 'false',
    help: 'true: that file is read again when it changes',
  },
} satisfies Record<string, Setting>;
