// Package bench measures whole scenarios of the engine: decisions at several
// sizes of fleet, and memory. It has benchmarks only; run them with
//
//	go test -run '^$' -bench . ./engine/bench
package bench
