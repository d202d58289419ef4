package snapshot

import (
	"maps"
	"slices"
)

// Branch returns a View of the same content. From here on either can be patched
// without the other noticing. It costs the same however many nodes there are
// (besides settling). Of a frozen View, several goroutines may take branches at
// the same time.
func (v *View) Branch() *View {
	v.Settle()
	if v.tok != nil { // not even a write of the same value on a frozen View
		v.tok = nil
	}
	b := *v
	b.removed, b.touched = nil, nil // the memory is v's
	return &b
}

// Trial is a Branch on which workloads are put on nodes and taken away to see
// what comes of it. Counts of images stay on it what they were on v, as in the
// snapshot of kube-scheduler, which changes that in place meanwhile
// (backend/cache/snapshot.go AssumePod, 1.37.1).
func (v *View) Trial() *View {
	b := v.Branch()
	b.trial = true
	return b
}

// Fork is a Branch that leaves no trace: it does not settle v. When v settles
// shows in decisions, so it must not depend on who looks.
func (v *View) Fork() *View {
	if v.isSettled() {
		return v.Branch()
	}
	v.tok = nil
	b := *v
	b.removed, b.touched = slices.Clone(v.removed), slices.Clone(v.touched)
	// To settle is to change the image states of touched nodes in place. So b
	// takes copies, and v keeps those that nobody else has.
	for _, place := range b.touched {
		if b.info(int(place)) != nil {
			info := b.change(int(place))
			info.Images = maps.Clone(info.Images)
		}
	}
	b.Settle()
	return b.Branch() // frozen
}
