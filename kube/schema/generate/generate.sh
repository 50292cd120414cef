#!/usr/bin/env bash
# Rebuilds ../generated: types.json.gz, names, types, tags and markers read from the published Go modules named in
# go.mod; internal.json.gz, the shapes of kube-apiserver's own types; resources.json, the resource list of a running
# kube-apiserver of the same release.
#
#   generate.sh DISCOVERY    a folder with api.json and apis.json: the aggregated discovery documents
#                            (Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList)
#                            of /api and /apis
set -euo pipefail
discovery=$(realpath "${1:?a folder with api.json and apis.json}")
cd "$(dirname "$0")"
modules=()
while read -r module version; do
  directory=$(go mod download -json "$module@$version" | sed -n 's/^\t"Dir": "\(.*\)",\?$/\1/p')
  modules+=("$module=$directory")
done < <(sed -n 's/^\t\(k8s.io[^ ]*\) \(v.*\)$/\1 \2/p' go.mod)
go run . -out ../generated -discovery "$discovery" "${modules[@]}"
