/**
 * The part of etcd's version 3 protocol that this client speaks: field names and numbers as etcd 3.5 and 3.6 have
 * them. https://etcd.io/docs/v3.6/dev-guide/api_reference_v3/
 */
export const PROTO = `
syntax = "proto3";
package etcd;

message Header { int64 revision = 3; }
message KeyValue {
  bytes key = 1; int64 create_revision = 2; int64 mod_revision = 3;
  int64 version = 4; bytes value = 5; int64 lease = 6;
}
message Event { int32 type = 1; KeyValue kv = 2; KeyValue prev_kv = 3; }

message RangeRequest {
  bytes key = 1; bytes range_end = 2; int64 limit = 3; int64 revision = 4;
  bool serializable = 7; bool keys_only = 8; bool count_only = 9; int64 max_mod_revision = 11;
}
message RangeResponse { Header header = 1; repeated KeyValue kvs = 2; bool more = 3; int64 count = 4; }
message PutRequest { bytes key = 1; bytes value = 2; int64 lease = 3; bool prev_kv = 4; }
message PutResponse { Header header = 1; KeyValue prev_kv = 2; }
message DeleteRequest { bytes key = 1; bytes range_end = 2; bool prev_kv = 3; }
message DeleteResponse { Header header = 1; int64 deleted = 2; repeated KeyValue prev_kvs = 3; }

message RequestOp {
  oneof request { RangeRequest range = 1; PutRequest put = 2; DeleteRequest delete = 3; TxnRequest txn = 4; }
}
message ResponseOp {
  oneof response { RangeResponse range = 1; PutResponse put = 2; DeleteResponse delete = 3; TxnResponse txn = 4; }
}
message Compare {
  int32 result = 1; int32 target = 2; bytes key = 3;
  oneof target_union { int64 version = 4; int64 create_revision = 5; int64 mod_revision = 6; bytes value = 7; }
}
message TxnRequest { repeated Compare compare = 1; repeated RequestOp success = 2; repeated RequestOp failure = 3; }
message TxnResponse { Header header = 1; bool succeeded = 2; repeated ResponseOp responses = 3; }
message CompactRequest { int64 revision = 1; bool physical = 2; }
message CompactResponse { Header header = 1; }

message WatchCreate {
  bytes key = 1; bytes range_end = 2; int64 start_revision = 3; bool progress_notify = 4; bool prev_kv = 6;
}
message WatchProgress {}
message WatchRequest { oneof request { WatchCreate create = 1; WatchProgress progress = 3; } }
message WatchResponse {
  Header header = 1; int64 watch_id = 2; bool created = 3; bool canceled = 4;
  int64 compact_revision = 5; string cancel_reason = 6; repeated Event events = 11;
}

message GrantRequest { int64 ttl = 1; int64 id = 2; }
message GrantResponse { Header header = 1; int64 id = 2; int64 ttl = 3; string error = 4; }
message RevokeRequest { int64 id = 1; }
message RevokeResponse { Header header = 1; }
message KeepAliveRequest { int64 id = 1; }
message KeepAliveResponse { Header header = 1; int64 id = 2; int64 ttl = 3; }

message StatusRequest {}
message StatusResponse { Header header = 1; int64 dbSize = 3; }

message AuthenticateRequest { string name = 1; string password = 2; }
message AuthenticateResponse { Header header = 1; string token = 2; }
`;
