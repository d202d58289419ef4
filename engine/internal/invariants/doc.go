// Package invariants holds checks that are too dear for a production build. They
// are compiled in by the build tag berth_invariants:
//
//	go test -tags berth_invariants ./...
//
// Without the tag every name here is there and does nothing: Enabled is a
// constant false, the types have no size, and the calls disappear.
package invariants
