package framework

import (
	"errors"
	"slices"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// What was decided about objects is written by the PreBind of the plugin whose Reserve
// has decided it. Whether it was is what the record has to know when the attempt fails,
// so the framework notes which of them were called, and what they said.

// askedKinds are the kinds of objects that may have been written. PreBind plugins run
// side by side, and one may never return, so it has a lock of its own.
type askedKinds struct {
	mu    sync.Mutex
	kinds []model.ObjectKind
}

// ask notes that the kinds are being written.
func (a *askedKinds) ask(kinds []model.ObjectKind) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, kind := range kinds {
		a.kinds = with(a.kinds, kind)
	}
}

// answer notes how the plugin that was to write the kinds has ended.
func (a *askedKinds) answer(kinds []model.ObjectKind, st *extpoints.Status) {
	if len(kinds) == 0 || !errors.Is(st.AsError(), extpoints.ErrNotWritten) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kinds = slices.DeleteFunc(a.kinds, func(kind model.ObjectKind) bool { return slices.Contains(kinds, kind) })
}

// list is what may have been written.
func (a *askedKinds) list() []model.ObjectKind {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.kinds)
}

// with is the list with the kind.
func with(list []model.ObjectKind, kind model.ObjectKind) []model.ObjectKind {
	if slices.Contains(list, kind) {
		return list
	}
	return append(list, kind)
}
