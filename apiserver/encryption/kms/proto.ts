import protobuf from 'protobufjs';

/** What a plugin says, as k8s.io/kms/apis/v2 0.36.3 has it, and what is kept beside a value. */
const { root } = protobuf.parse(`
syntax = "proto3";
package v2;

message StatusRequest {}
message StatusResponse { string version = 1; string healthz = 2; string key_id = 3; }
message DecryptRequest { bytes ciphertext = 1; string uid = 2; string key_id = 3; map<string, bytes> annotations = 4; }
message DecryptResponse { bytes plaintext = 1; }
message EncryptRequest { bytes plaintext = 1; string uid = 2; }
message EncryptResponse { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }

message Header { string key_id = 1; bytes seed = 2; map<string, bytes> annotations = 3; }
`);

export interface Status {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

export interface Encrypted {
  readonly ciphertext: Uint8Array;
  readonly keyId: string;
  readonly annotations: Readonly<Record<string, Uint8Array>>;
}

/** Before each value: what the plugin needs to give its seed back. */
export interface Header {
  readonly keyId: string;
  /** As the plugin encrypted it. */
  readonly seed: Uint8Array;
  readonly annotations: Readonly<Record<string, Uint8Array>>;
}

export interface Coder<T> {
  encode(message: T): Buffer;
  /** Throws Error. */
  decode(bytes: Uint8Array): T;
}

function coder<T extends object>(name: string): Coder<T> {
  const type = root.lookupType(`v2.${name}`);
  return {
    encode: (message) => Buffer.from(type.encode(message).finish()),
    // The message has its fields' defaults in its prototype: it is of the declared shape.
    decode: (bytes) => type.decode(bytes) as unknown as T,
  };
}

export const header = coder<Header>('Header');
export const statusRequest = coder<object>('StatusRequest');
export const statusResponse = coder<Status>('StatusResponse');
export const encryptRequest = coder<{ plaintext: Uint8Array; uid: string }>('EncryptRequest');
export const encryptResponse = coder<Encrypted>('EncryptResponse');
export const decryptRequest = coder<Encrypted & { uid: string }>('DecryptRequest');
export const decryptResponse = coder<{ readonly plaintext: Uint8Array }>('DecryptResponse');
