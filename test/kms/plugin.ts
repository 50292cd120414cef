import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
syntax = "proto3";
package v2;
message StatusRequest {}
message StatusResponse { string version = 1; string healthz = 2; string key_id = 3; }
message DecryptRequest { bytes ciphertext = 1; string uid = 2; string key_id = 3; map<string, bytes> annotations = 4; }
message DecryptResponse { bytes plaintext = 1; }
message EncryptRequest { bytes plaintext = 1; string uid = 2; }
message EncryptResponse { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }
`);

interface Encrypted {
  ciphertext: Uint8Array;
  keyId: string;
  annotations: Record<string, Uint8Array>;
}

const annotation = 'nonce.kms.example.com';

/** A KMS v2 plugin with keys of its own, which outlive its socket. What it answers may be changed. */
export class KmsPlugin {
  readonly socket: string;
  readonly #keys = new Map<string, Buffer>();
  #server: Server | undefined;
  keyId = 'key-1';
  status: { version?: string; healthz?: string; keyId?: string } = {};
  encrypted: Partial<Encrypted> = {};
  /** Calls of this one are not answered. */
  hangs: 'Decrypt' | 'Encrypt' | 'Status' | undefined;
  readonly calls = { Status: 0, Encrypt: 0, Decrypt: 0 };

  constructor(socket: string) {
    this.socket = socket;
  }

  get runs(): boolean {
    return this.#server !== undefined;
  }

  get configuration(): object {
    return { kms: { apiVersion: 'v2', name: 'vault', endpoint: `unix://${this.socket}`, timeout: '10s' } };
  }

  async start(): Promise<void> {
    const server = new Server();
    server.addService(
      {
        Status: definition('Status'),
        Encrypt: definition('Encrypt'),
        Decrypt: definition('Decrypt'),
      },
      {
        Status: this.#answering('Status', () => ({
          version: 'v2',
          healthz: 'ok',
          keyId: this.keyId,
          ...this.status,
        })),
        Encrypt: this.#answering('Encrypt', ({ plaintext }: { plaintext: Uint8Array }) => ({
          ...this.#encrypt(plaintext),
          ...this.encrypted,
        })),
        Decrypt: this.#answering('Decrypt', (encrypted: Encrypted) => ({
          plaintext: this.#decrypt(encrypted),
        })),
      },
    );
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix:${this.socket}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    );
    this.#server = server;
  }

  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id) ?? randomBytes(32);
    this.#keys.set(id, key);
    return key;
  }

  #encrypt(plaintext: Uint8Array): Encrypted {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.keyId), nonce);
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return { ciphertext, keyId: this.keyId, annotations: { [annotation]: nonce } };
  }

  /** Throws: another key, or not what was encrypted. */
  #decrypt({ ciphertext, keyId, annotations }: Encrypted): Buffer {
    const nonce = annotations[annotation] ?? Buffer.alloc(12);
    const decipher = createDecipheriv('aes-256-gcm', this.#key(keyId), nonce);
    decipher.setAuthTag(ciphertext.subarray(-16));
    return Buffer.concat([decipher.update(ciphertext.subarray(0, -16)), decipher.final()]);
  }

  #answering<Q>(name: keyof KmsPlugin['calls'], answer: (question: Q) => object) {
    return (call: { request: Q }, reply: (error: object | null, answer?: object) => void) => {
      this.calls[name]++;
      if (this.hangs === name) return;
      try {
        reply(null, answer(call.request));
      } catch {
        reply({ code: status.INVALID_ARGUMENT, details: 'it is not mine' });
      }
    };
  }
}

function definition(name: string) {
  const [asked, answered] = [root.lookupType(`v2.${name}Request`), root.lookupType(`v2.${name}Response`)];
  const encode = (type: protobuf.Type) => (message: object) => Buffer.from(type.encode(message).finish());
  const decode = (type: protobuf.Type) => (bytes: Buffer) => type.decode(bytes);
  return {
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: encode(asked),
    requestDeserialize: decode(asked),
    responseSerialize: encode(answered),
    responseDeserialize: decode(answered),
  };
}
