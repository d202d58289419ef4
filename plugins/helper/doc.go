// Package helper holds what several plugins need: arithmetic on scores, the
// questions "is this taint tolerated" and "which nodes does this workload
// require", canonical forms for signatures, and the collecting of problems in
// plugin arguments. It decides nothing by itself.
package helper
