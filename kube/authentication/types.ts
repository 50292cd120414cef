/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration */
export interface AuthenticationConfiguration {
  jwt?: readonly JwtAuthenticator[];
  anonymous?: { enabled?: boolean; conditions?: readonly { path?: string }[] };
}

export interface JwtAuthenticator {
  issuer: {
    url: string;
    discoveryURL?: string;
    /** PEM */
    certificateAuthority?: string;
    audiences: readonly string[];
    audienceMatchPolicy?: string;
    egressSelectorType?: string;
  };
  claimValidationRules?: readonly {
    claim?: string;
    requiredValue?: string;
    expression?: string;
    message?: string;
  }[];
  claimMappings: {
    username: Mapping;
    groups?: Mapping;
    uid?: { claim?: string; expression?: string };
    extra?: readonly { key: string; valueExpression: string }[];
  };
  userValidationRules?: readonly { expression: string; message?: string }[];
}

export interface Mapping {
  claim?: string;
  prefix?: string;
  expression?: string;
}
