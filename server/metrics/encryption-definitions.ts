import { counter, gauge, histogram } from './define.ts';

function named(name: string): string {
  return `apiserver_envelope_encryption_${name}`;
}

/** Of KMS plugins, as kube-apiserver 1.36.3 gives them. */
export const encryption = {
  calls: histogram(
    named('kms_operations_latency_seconds'),
    '[ALPHA] KMS operation duration with gRPC error code status total.',
    ['provider_name', 'method_name', 'grpc_status_code'],
    Array.from({ length: 20 }, (_, i) => 2 ** i / 10_000),
  ),
  invalidKeyIds: counter(
    named('invalid_key_id_from_status_total'),
    '[ALPHA] Number of times an invalid keyID is returned by the Status RPC call split by error.',
    ['provider_name', 'error'],
  ),
  seeds: gauge(
    named('dek_source_cache_size'),
    '[ALPHA] Number of records in data encryption key (DEK) source cache. On a restart, this value is an approximation of the number of decrypt RPC calls the server will make to the KMS plugin.',
    ['provider_name'],
  ),
} as const;
