import { defaultIssuer } from '../../cluster/names.ts';

export interface Setting {
  flag: string;
  variable: string;
  placeholder: string;
  default: string;
  help: string;
  /** May be said several times; with commas between in a variable, a list in the file. */
  repeatable?: true;
}

/** Rows of the table of settings: whom the server knows. */
export const authenticationSettings = {
  serviceAccountIssuer: {
    flag: 'service-account-issuer',
    variable: 'ATOLL_SERVICE_ACCOUNT_ISSUER',
    placeholder: 'URL',
    default: defaultIssuer,
    help: "who issues ServiceAccounts' tokens: where others find the server, if they are to verify them",
  },
  authenticationConfig: {
    flag: 'authentication-config',
    variable: 'ATOLL_AUTHENTICATION_CONFIG',
    placeholder: 'FILE',
    default: 'none',
    help: 'an AuthenticationConfiguration: of which issuers (OpenID Connect) tokens are taken; read again when it changes',
  },
  tokenAuthFile: {
    flag: 'token-auth-file',
    variable: 'ATOLL_TOKEN_AUTH_FILE',
    placeholder: 'FILE',
    default: 'none',
    help: 'static tokens: lines of token,user,uid,"group1,group2"; read again when it changes',
  },
  enableBootstrapTokenAuth: {
    flag: 'enable-bootstrap-token-auth',
    variable: 'ATOLL_ENABLE_BOOTSTRAP_TOKEN_AUTH',
    placeholder: 'WHETHER',
    default: 'false',
    help: "true: the tokens of bootstrap Secrets in a logical cluster's kube-system are taken there",
  },
  authenticationTokenWebhookConfigFile: {
    flag: 'authentication-token-webhook-config-file',
    variable: 'ATOLL_AUTHENTICATION_TOKEN_WEBHOOK_CONFIG_FILE',
    placeholder: 'FILE',
    default: 'none',
    help: 'a kubeconfig whose server is asked, by TokenReviews, for tokens that nobody else knows',
  },
  requestheaderClientCaFile: {
    flag: 'requestheader-client-ca-file',
    variable: 'ATOLL_REQUESTHEADER_CLIENT_CA_FILE',
    placeholder: 'FILE',
    default: 'none',
    help: "who signs the certificates of proxies that say in headers for whom they speak, PEM; never the users' own authority",
  },
  requestheaderAllowedNames: {
    flag: 'requestheader-allowed-names',
    variable: 'ATOLL_REQUESTHEADER_ALLOWED_NAMES',
    placeholder: 'NAMES',
    default: 'all',
    help: "common names of such proxies' certificates",
    repeatable: true,
  },
  requestheaderUsernameHeaders: {
    flag: 'requestheader-username-headers',
    variable: 'ATOLL_REQUESTHEADER_USERNAME_HEADERS',
    placeholder: 'NAMES',
    default: 'X-Remote-User',
    help: 'where they say the user; the first that is there counts',
    repeatable: true,
  },
  requestheaderUidHeaders: {
    flag: 'requestheader-uid-headers',
    variable: 'ATOLL_REQUESTHEADER_UID_HEADERS',
    placeholder: 'NAMES',
    default: 'X-Remote-Uid',
    help: 'where they say the uid',
    repeatable: true,
  },
  requestheaderGroupHeaders: {
    flag: 'requestheader-group-headers',
    variable: 'ATOLL_REQUESTHEADER_GROUP_HEADERS',
    placeholder: 'NAMES',
    default: 'X-Remote-Group',
    help: 'where they say the groups, one in each header',
    repeatable: true,
  },
  requestheaderExtraHeadersPrefix: {
    flag: 'requestheader-extra-headers-prefix',
    variable: 'ATOLL_REQUESTHEADER_EXTRA_HEADERS_PREFIX',
    placeholder: 'NAMES',
    default: 'X-Remote-Extra-',
    help: 'how the headers begin in which they say more',
    repeatable: true,
  },
} satisfies Record<string, Setting>;
