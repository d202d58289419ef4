// Stands for sigs.k8s.io/security-profiles-operator, of which scheduler-plugins wants one type; the
// operator itself wants thousands of modules.
module sigs.k8s.io/security-profiles-operator

go 1.26.0

require (
	github.com/containers/common v0.62.3
	k8s.io/apimachinery v0.37.1
)
