// Package differences counts what was compared and collects what differed.
// Differences that are known, and why they are no mistake, are written down in
// differences.txt; any other is unexplained.
package differences
