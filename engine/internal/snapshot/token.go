package snapshot

// token marks what a View may change. Its address is its identity, so it must
// have a size.
type token struct{ _ byte }
