// Package cel evaluates the expressions of device selectors, which Kubernetes
// writes in CEL.
//
// An [Evaluator] is for the plugin DynamicResources: it says whether an expression
// is true for a device, as kube-scheduler 1.37.1 does, because it asks the same
// library (k8s.io/dynamic-resource-allocation, package cel). The environment is
// that for expressions that the API server has stored, so those of an API server
// that is newer are understood as far as they can be, and the limit on the cost of
// an evaluation is that of the API. The variable device has what it has there:
//
//	device.driver                    the name of the driver
//	device.attributes[domain].id     attributes; those without a domain are in that of the driver
//	device.capacity[domain].id       capacities, as quantities; likewise
//	device.allowMultipleAllocations  whether it can be shared
//
// The devices are those that package convert makes of resource slices, whose
// amounts are in thousandths.
package cel
