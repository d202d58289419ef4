package simulate

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// newHostility makes the surroundings of a history; nil for friendly ones.
func newHostility(s *sim, seed uint64) *hostility {
	if !s.o.Hostile {
		return nil
	}
	h := &hostility{rng: rand.New(rand.NewPCG(seed, 3)), callBack: s.callBack, step: func() int { return s.step }}
	h.strikes = func(point string, how deed) {
		s.reach("hostile: " + point + " " + string(how))
		s.note(s.step, point+" "+string(how))
		if point == "Less" && how == panics { // the order is another then
			s.unreplayable, s.misordered = true, true
		}
	}
	h.draw()
	return h
}

// besideIfHostile is beside where a point may be on the way of f.
func (s *sim) besideIfHostile(f func()) {
	if s.hostility == nil {
		f()
		return
	}
	if whole, cause := beside(f); !whole && s.broken == 0 {
		s.fail("what should come to its end did not: %s", cause)
	}
}

// hostileBinder is a point of the first or the second binder. The engine cannot know what was
// written then, and is to be told.
func (s *sim) hostileBinder(binder int) {
	if s.hostility == nil {
		return
	}
	if s.current != nil {
		s.current.owes[binder] = true
	}
	s.hostility.at([]string{"the orchestrator's BindVolumes", "the orchestrator's BindDevices"}[binder])
}

// callBack calls the engine from a point where it is under way, or where a task is: to read is
// allowed, to change it is refused in the first case. A call that breaks the engine calls the logger and
// the listener once more: there the engine is broken already, and says so.
func (s *sim) callBack(point string) {
	s.raw.View()
	s.raw.QueueCounts()
	s.raw.Queue(pickOf(s, s.world.order))
	s.raw.Branch()
	if s.current != nil {
		return // a task: the nested steps change it
	}
	for name, err := range s.tryAll() {
		switch {
		case errors.Is(err, engine.ErrBroken):
			s.saidBroken = true
		case !errors.Is(err, engine.ErrCalledBack):
			s.fail("%s was called from %s, and said %v", name, point, err)
		}
	}
}

// tryAll calls all that changes an engine, and lists what it says.
func (s *sim) tryAll() map[string]error {
	said := func(f func()) (err error) {
		defer func() { err, _ = recover().(error) }()
		f()
		return nil
	}
	list := map[string]error{
		"Apply": s.raw.Apply(s.now, engine.PutNamespace(&model.Namespace{Name: "never"})), "Evict": s.raw.Evict(s.now, "nobody", ""),
		"StartRecording": s.raw.StartRecording(s.now, engine.NewRecorder(io.Discard)),
		"Schedule":       said(func() { s.raw.Schedule(s.now) }), "Tick": said(func() { s.raw.Tick(s.now) }),
		"Settle": said(func() { s.raw.Settle(s.now) }), "CallOff": said(func() { s.raw.CallOff(s.now, nil) }),
	}
	if len(s.tasks) > 0 {
		list["Finish"] = said(func() { s.raw.Finish(s.now, s.tasks[0].task) })
	}
	return list
}

// sawFailed notes that the engine is broken, or has a recorder that failed.
func (s *sim) sawFailed(e engine.FailedEvent) {
	switch {
	case errors.Is(e.Err, engine.ErrBroken):
		if s.hostility == nil || !strings.Contains(e.Err.Error(), "its goroutine was ended") {
			s.fail("the engine breaks: %v", e.Err)
		}
		s.broken, s.cut = s.broken+1, true
	case s.hostility != nil && strings.Contains(e.Err.Error(), "planned panic of the recorder"):
		s.cut = true
	}
}
