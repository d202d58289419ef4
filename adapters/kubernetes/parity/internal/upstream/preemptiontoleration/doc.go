// Package preemptiontoleration is upstream's, with a patch, where go is run with what patches/overlay writes; else
// it is empty.
package preemptiontoleration
