/** https://kubernetes.io/docs/tasks/administer-cluster/encrypt-data/ */
export interface EncryptionConfiguration {
  resources: readonly ResourceConfiguration[];
}

interface ResourceConfiguration {
  resources: readonly string[];
  /** The first one writes, all read. */
  providers: readonly ProviderConfiguration[];
}

/** One of them. */
export interface ProviderConfiguration {
  aesgcm?: KeysConfiguration | null;
  aescbc?: KeysConfiguration | null;
  secretbox?: KeysConfiguration | null;
  identity?: object | null;
  kms?: object | null;
}

interface KeysConfiguration {
  /** The first one writes, all read. */
  keys?: readonly EncryptionKey[] | null;
}

export interface EncryptionKey {
  name: string;
  /** Base64. */
  secret: string;
}
