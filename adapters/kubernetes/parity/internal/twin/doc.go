// Package twin keeps one cluster on both sides: what happens to it is told to
// the reference and to the subject in the same words at the same time.
package twin
