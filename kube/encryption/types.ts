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
  kms?: KmsConfiguration | null;
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

/** A plugin that keeps the keys. Of the fields that are absent: version v1, 3s. */
export interface KmsConfiguration {
  apiVersion?: string;
  /** Unique among all of the configuration. */
  name: string;
  /** `unix:///path` */
  endpoint: string;
  /** Of one call, as Go writes durations. */
  timeout?: string;
  /** Of v1 alone. */
  cachesize?: number | null;
}
