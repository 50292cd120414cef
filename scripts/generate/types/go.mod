module atoll.dev/scripts/generate/types

go 1.24

// Read as files, never compiled: ../kubernetes.mjs downloads exactly these.
require (
	k8s.io/api v0.36.3
	k8s.io/apiextensions-apiserver v0.36.3
	k8s.io/apimachinery v0.36.3
	k8s.io/kube-aggregator v0.36.3
	k8s.io/kubernetes v1.36.3
)
