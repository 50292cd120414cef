/** What defaulting, validation and printing need to know about a resource; kube/schema's ResourceInfo has all of it. */
export interface KindInfo {
  group: string;
  version: string;
  kind: string;
  resource: string;
  namespaced: boolean;
  /** Of a custom resource: only where `status` is one of them does its status have writes of its own. Absent: it has. */
  subresources?: readonly { readonly name: string }[];
  /** A write of the object is one of its status, too: for what nobody but controllers write. Default: only `/status` is. */
  statusWithRest?: boolean;
}
