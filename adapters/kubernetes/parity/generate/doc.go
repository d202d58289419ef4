// Package generate draws random Kubernetes objects from a seed: nodes, pods and
// what belongs to them, and changes of them. It is weighted towards odd corners:
// missing labels, empty values, zero and huge amounts, terms that overlap, lists
// that are empty and lists that are not there.
//
// What it draws an API server would let in, as far as the scheduler can tell the
// difference. The same seed and number of a case give the same objects, as long
// as they are asked for in the same order.
package generate
