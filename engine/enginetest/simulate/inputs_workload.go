package simulate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

func inputSubmit(s *sim) string {
	w := s.newWorkload()
	if s.o.Queues && w.Group == "" && s.chance(10) {
		w.Queue, w.Principal = "", countedPrincipal
	}
	if s.tooMany(w) {
		if err := s.raw.Apply(s.now, engine.Submit(w)); err == nil {
			s.fail("%s is one too many by a limit, and not refused", w.ID)
		}
		s.reach("workload refused by a limit")
		return "submit " + w.ID + ", which a limit refuses"
	}
	s.apply(engine.Submit(w))
	s.world.book[w.ID] = &booked{spec: w}
	return fmt.Sprintf("submit %s: %v, licences %d, devices %v, ports %v, gates %v, node %q, group %q, claims %v %v", w.ID, w.Requests.CPU,
		w.Requests.Scalar("licences"), w.Devices, w.Ports, w.Gates, w.NodeName, w.Group, w.VolumeClaims, w.DeviceClaims)
}

func inputUpdate(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(*model.WorkloadRecord) bool { return true }))
	if id == "" {
		return ""
	}
	row, _ := s.row(id)
	w, what := s.changeWorkload(row.Workload, row.Phase != model.Pending)
	if !maps.Equal(w.Labels, row.Labels) {
		s.happened(id)
	}
	s.forced[row.Node] = true
	s.doubt(row.Node)
	s.apply(engine.Update(w))
	s.world.book[id].spec = w
	return "update " + id + ": " + what
}

// inputRemove removes a workload, and sometimes submits another under its ID.
func inputRemove(s *sim) string {
	id := pickOf(s, s.rowsWhere(func(*model.WorkloadRecord) bool { return true }))
	if id == "" {
		return ""
	}
	row, _ := s.row(id)
	s.abandon(id)
	s.apply(engine.Remove(id))
	delete(s.world.book, id)
	if s.chance(80) || row.Principal == countedPrincipal {
		s.gone = append(s.gone, id)
		return fmt.Sprintf("remove %s (%v)", id, row.Phase)
	}
	w := row.Workload.Clone()
	s.apply(engine.Submit(w))
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
	s.apply(engine.Terminate(row.ID))
	s.world.book[row.ID].leaving = true
	return fmt.Sprintf("terminate %s (%v)", row.ID, row.Phase)
}

func inputEnd(s *sim) string {
	row, ok := s.moving(model.Finished)
	if !ok {
		return ""
	}
	s.abandon(row.ID)
	s.apply(engine.Finish(row.ID))
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
	s.apply(engine.Requeue(row.ID))
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
		other := s.rng.IntN(4)
		if !slices.ContainsFunc(devices, func(d model.DeviceShare) bool { return d.Device == other }) { // which would be refused
			devices = slices.Clone(devices)
			devices[0].Device = other
			s.forced[node] = true
		}
	}
	s.apply(engine.Confirm(model.Binding{Workload: id, Node: node, Devices: devices}))
	e := s.world.book[id]
	moved := e.node != node || row.Node != node
	e.node, e.known, e.unreported = node, true, false
	if moved {
		s.settleIn(id)
	}
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

func inputAdopt(s *sim) string {
	w := s.newWorkload()
	node := s.anyNode()
	var devices []model.DeviceShare
	if s.chance(50) {
		for _, r := range w.Devices {
			devices = append(devices, model.DeviceShare{Device: s.rng.IntN(4), Share: r.Share})
		}
	}
	b := model.Binding{Node: node, Devices: devices}
	if s.chance(30) {
		b.Since = s.now.Add(-time.Hour)
	}
	s.forced[node] = true
	s.apply(engine.Adopt(w, b))
	s.world.book[w.ID] = &booked{spec: w, node: node, devices: devices, known: true}
	s.settleIn(w.ID)
	return fmt.Sprintf("adopt %s on %s, devices %v", w.ID, node, devices)
}
