package simulate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
)

// input is a kind of input. do makes one and says what it was; empty where
// there is nothing to do it to.
type input struct {
	name   string
	weight int
	do     func(*sim) string
	// alone: it cannot come while a task runs.
	alone bool
}

// inputs are all kinds of inputs. (A function, since an input may make
// others.)
func inputs() []input {
	return []input{
		{name: "schedule", weight: 30, do: inputSchedule},
		{name: "run", weight: 26, do: inputRun, alone: true},
		{name: "finish", weight: 10, do: inputFinish},
		{name: "submit", weight: 16, do: inputSubmit},
		{name: "members", weight: 5, do: inputMembers},
		{name: "group", weight: 5, do: inputGroup},
		{name: "storage", weight: 6, do: inputStorage},
		{name: "devices", weight: 6, do: inputDevices},
		{name: "tend", weight: 6, do: inputTend},
		{name: "tell", weight: 12, do: inputTell},
		{name: "update", weight: 10, do: inputUpdate},
		{name: "remove", weight: 6, do: inputRemove},
		{name: "terminate", weight: 3, do: inputTerminate},
		{name: "end", weight: 6, do: inputEnd},
		{name: "requeue", weight: 4, do: inputRequeue},
		{name: "evict", weight: 4, do: inputEvict},
		{name: "confirm", weight: 10, do: inputConfirm},
		{name: "confirm elsewhere", weight: 4, do: inputConfirmElsewhere},
		{name: "adopt", weight: 3, do: inputAdopt},
		{name: "node", weight: 3, do: inputNode},
		{name: "change node", weight: 6, do: inputChangeNode},
		{name: "remove node", weight: 3, do: inputRemoveNode},
		{name: "noise", weight: 3, do: inputNoise},
		{name: "batch", weight: 2, do: inputBatch},
		{name: "tick", weight: 10, do: inputTick},
		{name: "jump", weight: 5, do: inputJump},
		{name: "permit", weight: 5, do: inputPermit},
		{name: "activate", weight: 3, do: inputActivate},
		{name: "nominate", weight: 2, do: inputNominate},
		{name: "look", weight: 4, do: inputLook},
		{name: "nonsense", weight: 4, do: inputNonsense},
		{name: "call off", weight: 1, do: inputCallOff},
		{name: "restart", weight: 1, do: inputRestart, alone: true},
	}
}

// Inputs are the names of the kinds of inputs, for [Options].Without.
func Inputs() []string {
	var names []string
	for _, in := range inputs() {
		names = append(names, in.name)
	}
	return names
}

// chooseInput draws a kind of input.
func (s *sim) chooseInput() *input {
	total := 0
	for i := range s.inputs {
		total += s.inputs[i].weight
	}
	for range 20 {
		n := s.rng.IntN(total)
		for i := range s.inputs {
			if n -= s.inputs[i].weight; n < 0 {
				if !slices.Contains(s.o.Without, s.inputs[i].name) && !(s.nested && s.inputs[i].alone) {
					return &s.inputs[i]
				}
				break
			}
		}
	}
	return &s.inputs[0]
}

// schedule has the engine make an attempt.
func (s *sim) schedule() bool {
	s.attempting = true
	defer func() { s.attempting = false }()
	return s.raw.Schedule(s.now)
}

func inputSchedule(s *sim) string {
	return fmt.Sprintf("schedule: %v", s.schedule())
}

func inputSubmit(s *sim) string {
	w := s.newWorkload()
	s.apply(engine.Change{Submit: w})
	s.world.book[w.ID] = &booked{spec: w}
	return fmt.Sprintf("submit %s: %v, licences %d, devices %v, ports %v, gates %v, node %q, group %q, claims %v %v", w.ID, w.Requests.CPU,
		w.Requests.Scalar("licences"), w.Devices, w.Ports, w.Gates, w.NodeName, w.Group, w.VolumeClaims, w.DeviceClaims)
}

func inputUpdate(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(w *model.WorkloadRecord) bool {
		return w.NodeName == "" || s.world.nodes[w.NodeName] != nil
	}))
	if id == "" {
		return ""
	}
	row, _ := s.row(id)
	w, what := s.changeWorkload(row.Workload, row.Phase != model.Pending)
	if !maps.Equal(w.Labels, row.Labels) {
		s.happened(id)
	}
	s.forced[row.Node] = true
	s.apply(engine.Change{Update: w})
	s.world.book[id].spec = w
	return "update " + id + ": " + what
}

// inputRemove removes a workload, and sometimes hands in another under its ID.
func inputRemove(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(*model.WorkloadRecord) bool { return true }))
	if id == "" {
		return ""
	}
	row, _ := s.row(id)
	s.abandon(id)
	s.apply(engine.Change{Remove: id})
	delete(s.world.book, id)
	if s.chance(80) || row.NodeName != "" && s.world.nodes[row.NodeName] == nil {
		s.gone = append(s.gone, id)
		return fmt.Sprintf("remove %s (%v)", id, row.Phase)
	}
	w := row.Workload.Clone()
	s.apply(engine.Change{Submit: w})
	s.world.book[id] = &booked{spec: w}
	return fmt.Sprintf("remove %s (%v) and submit it again", id, row.Phase)
}

// moving picks a workload that may move to the phase.
func (s *sim) moving(to model.Phase) (model.WorkloadRecord, bool) {
	id := pickOf(s, s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Phase.CanMoveTo(to) }))
	row, ok := s.row(id)
	return row, ok
}

func inputTerminate(s *sim) string {
	row, ok := s.moving(model.Terminating)
	if !ok {
		return ""
	}
	s.interruptIf(row.ID, model.Assumed)
	s.apply(engine.Change{Terminate: row.ID})
	s.world.book[row.ID].leaving = true
	return fmt.Sprintf("terminate %s (%v)", row.ID, row.Phase)
}

func inputEnd(s *sim) string {
	row, ok := s.moving(model.Finished)
	if !ok {
		return ""
	}
	s.abandon(row.ID)
	s.apply(engine.Change{Finish: row.ID})
	e := s.world.book[row.ID]
	e.lost()
	e.ended = true
	return fmt.Sprintf("finish %s (%v)", row.ID, row.Phase)
}

func inputRequeue(s *sim) string {
	row, ok := s.moving(model.Pending)
	if !ok {
		return ""
	}
	s.abandon(row.ID)
	s.apply(engine.Change{Requeue: row.ID})
	s.world.book[row.ID].lost()
	return fmt.Sprintf("requeue %s (%v on %s)", row.ID, row.Phase, row.Node)
}

func inputEvict(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Node != "" }))
	if id == "" {
		return ""
	}
	row, _ := s.row(id)
	if err := s.raw.Evict(s.now, id, "chosen by lot"); err != nil {
		s.fail("evict %s: %v", id, err)
	}
	s.takeTasks()
	asked := slices.ContainsFunc(s.tasks, func(t *simTask) bool { return t.evicts && t.id == id && t.placed.Equal(row.PlacedAt) })
	if !asked && (row.Phase == model.Bound || row.Phase == model.Confirmed) {
		s.fail("the eviction of %s from %s is not asked of the orchestrator", id, row.Node)
	}
	return "evict " + id
}

// inputConfirm reports a workload that runs, at last.
func inputConfirm(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(w *model.WorkloadRecord) bool {
		e := s.world.book[w.ID]
		return e.unreported && e.node != "" && !e.leaving && w.Phase.CanMoveTo(model.Confirmed)
	}))
	if id == "" {
		return ""
	}
	e := s.world.book[id]
	return "confirm " + id + s.confirm(id, e.node, e.devices)
}

// confirm tells the engine where a workload runs.
func (s *sim) confirm(id, node string, devices []model.DeviceShare) string {
	row, _ := s.row(id)
	if row.Node != node {
		s.forced[node] = true
		s.interruptIf(id, model.Assumed)
	}
	if row.Node == node && s.chance(50) {
		devices = nil // those of the decision
	} else if s.chance(15) && len(devices) > 0 {
		devices = slices.Clone(devices)
		devices[0].Device = s.rng.IntN(4)
		s.forced[node] = true
	}
	s.apply(engine.Change{Confirm: &model.Binding{Workload: id, Node: node, Devices: devices}})
	e := s.world.book[id]
	e.node, e.known, e.unreported = node, true, false
	if now, _ := s.row(id); devices != nil || row.Node != node {
		e.devices = now.Shares
	}
	return fmt.Sprintf(" (%v on %q) on %s, devices %v", row.Phase, row.Node, node, devices)
}

// inputConfirmElsewhere reports a workload on a node that somebody else chose.
func inputConfirmElsewhere(s *sim) string {
	row, ok := s.moving(model.Confirmed)
	if !ok {
		return ""
	}
	e := s.world.book[row.ID]
	if e.leaving || e.node != "" && !e.known {
		return ""
	}
	e.devices = nil
	return "confirm elsewhere " + row.ID + s.confirm(row.ID, s.anyNode(), nil)
}

// anyNode is a node, sometimes one that nobody knows.
func (s *sim) anyNode() string {
	if len(s.world.order) == 0 || s.chance(10) {
		return faults.NodeName(s.rng.IntN(s.o.Nodes + 6))
	}
	return pickOf(s, s.world.order)
}

func inputAdopt(s *sim) string {
	w := s.newWorkload()
	node := s.anyNode()
	var devices []model.DeviceShare
	if s.chance(50) {
		for _, r := range w.Devices {
			devices = append(devices, model.DeviceShare{Device: s.rng.IntN(4), Share: r.Share})
		}
	}
	p := &engine.Placement{Workload: w, Node: node, Devices: devices}
	if s.chance(30) {
		p.Since = s.now.Add(-time.Hour)
	}
	s.forced[node] = true
	s.apply(engine.Change{Adopt: p})
	s.world.book[w.ID] = &booked{spec: w, node: node, devices: devices, known: true}
	return fmt.Sprintf("adopt %s on %s, devices %v", w.ID, node, devices)
}
