package volumebinding

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// twin answers as the rules say, one node after the other, and goes through all
// there is for each.
type twin struct {
	improved bool
	storage  extpoints.Storage
	w        *extpoints.WorkloadInfo
	shape    []helper.ShapePoint
}

// outcome is what the twin says of a node.
type outcome struct {
	reasons []string
	volumes []*model.Volume // by claim in order of size, nil for one to be made
	small   []*model.VolumeClaim
	made    []*model.VolumeClaim
	rooms   []*model.StorageCapacity // of made
}

// pre is PreFilter's answer.
func (t *twin) pre() string {
	const uau = "UnschedulableAndUnresolvable: "
	if len(t.w.VolumeClaims) == 0 {
		return "Skip"
	}
	for _, ref := range t.w.VolumeClaims {
		c := t.storage.Claim(ref.ID)
		switch {
		case c == nil && ref.Generated:
			return fmt.Sprintf("%swaiting for volume claim %q to be created for the workload", uau, ref.ID)
		case c == nil:
			return fmt.Sprintf("%svolume claim %q not found", uau, ref.ID)
		case c.Lost:
			return fmt.Sprintf("%svolume claim %q bound to non-existent volume %q", uau, ref.ID, c.Volume)
		case c.Deleting:
			return fmt.Sprintf("%svolume claim %q is being deleted", uau, ref.ID)
		case ref.Generated && c.Owner != "w":
			return fmt.Sprintf("%svolume claim ns/%s was not created for workload ns/w (workload is not owner)", uau, ref.ID)
		}
	}
	answer := "Success"
	for _, c := range t.claims() {
		class := t.storage.Class(c.Class)
		switch {
		case c.Bound:
		case c.Class == "" || class == nil:
			answer = uau + "workload has unbound immediate volume claims"
		case class.Binding == "":
			return fmt.Sprintf("Error: binding mode not set for storage class %q", c.Class)
		case class.Binding == model.BindImmediate || c.Volume != "":
			answer = uau + "workload has unbound immediate volume claims"
		}
	}
	return answer
}

func (t *twin) claims() (list []*model.VolumeClaim) {
	for _, ref := range t.w.VolumeClaims {
		list = append(list, t.storage.Claim(ref.ID))
	}
	return list
}

func (t *twin) on(n *model.Node) *outcome {
	o := &outcome{}
	reachable, there := t.bound(n)
	matched, roomy := false, true
	if t.forThisNode(n) {
		matched, roomy = t.unbound(n, o)
	}
	for _, q := range []struct {
		fine   bool
		reason string
	}{
		{reachable, "node(s) didn't match volume's node affinity"},
		{matched, "node(s) didn't find available volumes to bind"},
		{roomy, "node(s) did not have enough free storage"},
		{there, "node(s) unavailable due to one or more volume claims bound to non-existent volumes"},
	} {
		if !q.fine {
			o.reasons = append(o.reasons, q.reason)
		}
	}
	return o
}

func (t *twin) bound(n *model.Node) (reachable, there bool) {
	for _, c := range t.claims() {
		if !c.Bound {
			continue
		}
		v := t.storage.Volume(c.Volume)
		if v == nil {
			return true, false
		}
		nodes := v.Nodes
		if s := t.storage.NodeStorage(n.Name); s != nil && v.StandInNodes != nil && slices.Contains(s.StandsIn, v.Plugin) {
			nodes = v.StandInNodes
		}
		if !nodes.Matches(n) {
			return false, true
		}
	}
	return true, true
}

// forThisNode reports whether no volume is to be made for another node.
func (t *twin) forThisNode(n *model.Node) bool {
	for _, c := range t.claims() {
		if !c.Bound && c.SelectedNode != "" && c.SelectedNode != n.Name {
			return false
		}
	}
	return true
}

func (t *twin) unbound(n *model.Node, o *outcome) (matched, roomy bool) {
	var toMake []*model.VolumeClaim
	for _, c := range t.claims() {
		switch {
		case c.Bound:
		case c.SelectedNode != "":
			toMake = append(toMake, c)
		default:
			o.small = append(o.small, c)
		}
	}
	sort.SliceStable(o.small, func(i, j int) bool { return o.small[i].Request < o.small[j].Request })
	for _, c := range o.small {
		v := t.match(c, n, o.volumes)
		o.volumes = append(o.volumes, v)
		if v == nil {
			toMake = append(toMake, c)
		}
	}
	for _, c := range toMake {
		class := t.storage.Class(c.Class)
		if class.Provisioner == "" || class.Provisioner == model.NoProvisioner || !class.AllowedNodes.Matches(n) {
			return false, true
		}
		room, enough := t.room(c, class, n, o)
		if !enough {
			return true, false
		}
		o.made, o.rooms = append(o.made, c), append(o.rooms, room)
	}
	return true, true
}

// match finds a volume for the claim on the node.
func (t *twin) match(c *model.VolumeClaim, n *model.Node, taken []*model.Volume) *model.Volume {
	var smallest *model.Volume
	for _, v := range t.storage.Volumes(c.Class) {
		kept := v.Claim != nil && v.Claim.ID == c.ID && (v.Claim.UID == "" || v.Claim.UID == c.UID)
		if slices.Contains(taken, v) || v.Claim != nil && !kept || v.Capacity < c.Request || v.Deleting ||
			(v.Mode == model.BlockVolume) != (c.Mode == model.BlockVolume) || v.AttributesClass != c.AttributesClass {
			continue
		}
		here := v.Nodes.Matches(n)
		switch {
		case kept && here:
			return v
		case kept:
			return nil
		}
		if !here || v.Phase != "" && v.Phase != model.VolumeAvailable || c.Selector != nil && !c.Selector.Matches(v.Labels) {
			continue
		}
		lacks := slices.ContainsFunc(c.AccessModes, func(m model.AccessMode) bool { return !slices.Contains(v.AccessModes, m) })
		if !lacks && (smallest == nil || v.Capacity < smallest.Capacity) {
			smallest = v
		}
	}
	return smallest
}

func (t *twin) room(c *model.VolumeClaim, class *model.StorageClass, n *model.Node, o *outcome) (*model.StorageCapacity, bool) {
	driver := t.storage.Driver(class.Provisioner)
	if c.Request == 0 || driver == nil || !driver.TracksCapacity {
		return nil, true
	}
	for _, room := range t.storage.Capacities(class.Name) {
		limit := room.Capacity
		if room.MaxVolumeSize != nil {
			limit = room.MaxVolumeSize
		}
		if limit != nil && *limit >= c.Request && room.Nodes.Matches(n.Labels) && !t.isTaken(room, c, o) {
			return room, true
		}
	}
	return nil, false
}

// score is that of a feasible node.
func (t *twin) score(o *outcome) int64 {
	requested, given := map[string]int64{}, map[string]int64{}
	static := false
	for i, v := range o.volumes {
		if v != nil {
			static = true
			requested[v.Class] += o.small[i].Request
			given[v.Class] += v.Capacity
		}
	}
	for i, room := range o.rooms {
		if room != nil && !static {
			requested[room.Class] += o.made[i].Request
			given[room.Class] = 0
			if room.Capacity != nil {
				given[room.Class] = *room.Capacity
			}
		}
	}
	if len(given) == 0 {
		return 0
	}
	sum := 0.0
	for class, capacity := range given {
		utilization := int64(100)
		if capacity > 0 && requested[class] <= capacity {
			utilization = requested[class] * 100 / capacity
		}
		sum += float64(helper.BrokenLinear(t.shape)(utilization))
	}
	return int64(math.Round(sum / float64(len(given))))
}

// isTaken reports whether others have been given so much of the room, or this workload's claims,
// that there is too little left.
func (t *twin) isTaken(room *model.StorageCapacity, c *model.VolumeClaim, o *outcome) bool {
	given := map[string]int64{}
	for _, taken := range room.Taken {
		if _, known := given[taken.Claim]; !known && taken.Claim != c.ID {
			given[taken.Claim] = taken.Bytes
		}
	}
	sum := int64(0)
	for _, bytes := range given {
		sum += bytes
	}
	for i, r := range o.rooms {
		if r == room && t.improved {
			sum += o.made[i].Request
		}
	}
	return sum > 0 && room.Capacity != nil && sum+c.Request > *room.Capacity
}

// roomsAfter are the rooms with what Reserve takes of them, by ID.
func (t *twin) roomsAfter(o *outcome) map[string]*model.StorageCapacity {
	after := map[string]*model.StorageCapacity{}
	for i, room := range o.rooms {
		settled := func(taken model.TakenRoom) bool { return taken.Claim == o.made[i].ID && taken.Workload == "" }
		if !t.improved || room == nil || room.Capacity == nil || slices.ContainsFunc(room.Taken, settled) {
			continue
		}
		if after[room.ID] == nil {
			own := *room
			own.Taken = slices.Clone(room.Taken)
			after[room.ID] = &own
		}
		after[room.ID].Taken = append(after[room.ID].Taken, model.TakenRoom{Claim: o.made[i].ID, Workload: t.w.ID, Bytes: o.made[i].Request})
	}
	return after
}

// decided is what Reserve is to write, rooms aside.
func (t *twin) decided(o *outcome, node string) model.Objects {
	var list model.Objects
	for i, v := range o.volumes {
		if v != nil {
			decided := *v
			decided.Claim = &model.ClaimIdentity{ID: o.small[i].ID, UID: o.small[i].UID}
			list = append(list, &decided)
		}
	}
	for _, c := range o.made {
		decided := *c
		decided.SelectedNode = node
		list = append(list, &decided)
	}
	return list
}

func TestAgainstTwin(t *testing.T) {
	r := seeded(t)
	met := map[string]int{}
	for range 20000 {
		s := world{odd: true}.situation(r)
		shape := pick(r, nil, []helper.ShapePoint{{Utilization: 10, Score: 1}, {Utilization: 60, Score: 9}, {Utilization: 90, Score: 2}})
		if problem := againstTwin(t, s, one(r, 2), shape, met); problem != "" {
			var objects strings.Builder
			for _, o := range s.View.Objects {
				fmt.Fprintf(&objects, "  %T %+v\n", o, o)
			}
			t.Fatalf("%s\n%v%s", problem, s, objects.String())
		}
	}
	for _, what := range []string{
		"Skip", "Success", ReasonImmediate, ReasonNodeConflict, ReasonBindConflict, ReasonNotEnoughSpace, ReasonVolumeGone,
		ReasonNodeConflict + ", " + ReasonBindConflict, ReasonBindConflict + ", " + ReasonVolumeGone, ReasonNotEnoughSpace + ", " + ReasonVolumeGone,
		"several decided", "room taken", "scored",
	} {
		if met[what] < 20 {
			t.Errorf("%q was met only %d times", what, met[what])
		}
	}
}

// againstTwin says where the plugin and the twin differ, and counts in met what
// they agree on.
func againstTwin(t *testing.T, s *extpointstest.Situation, improved bool, shape []helper.ShapePoint, met map[string]int) string {
	p := newPlugin(t, Args{Shape: shape}, nil)
	if !improved {
		p.compat = extpoints.KubeScheduler137
	}
	twin := &twin{improved: improved, storage: s.View.Storage(), w: s.Workload, shape: Args{Shape: shape}.WithDefaults().Shape}
	twin.shape = slices.Clone(twin.shape)
	for i := range twin.shape {
		twin.shape[i].Score *= 10
	}
	state := s.State()
	_, status := p.PreFilter(state, s.Workload)
	if got, want := status.String(), twin.pre(); got != want {
		return fmt.Sprintf("PreFilter says %s, want %s", got, want)
	}
	met[strings.TrimPrefix(status.String(), "UnschedulableAndUnresolvable: ")]++
	if status != nil {
		return ""
	}
	scored := p.PreScore(state, s.Workload, s.View.NodeInfos) == nil
	for _, n := range s.View.NodeInfos {
		o := twin.on(n.Node)
		got := p.Filter(state, s.Workload, n)
		if !slices.Equal(got.Reasons(), o.reasons) || (got == nil) != (o.reasons == nil) {
			return fmt.Sprintf("node %s: %v, want %q", n.Node.Name, got, o.reasons)
		}
		met[got.Message()]++
		if got != nil {
			continue
		}
		score, _ := p.Score(state, s.Workload, n)
		if want := twin.score(o); score != want || !scored && want != 0 {
			return fmt.Sprintf("node %s scores %d, want %d", n.Node.Name, score, want)
		} else if want > 0 {
			met["scored"]++
		}
		b := &model.Binding{Workload: "w", Node: n.Node.Name}
		if status := p.Reserve(state, s.Workload, b); status != nil {
			return status.String()
		}
		rooms := map[string]*model.StorageCapacity{}
		rest := slices.DeleteFunc(b.Decided, func(o model.Object) bool {
			room, is := o.(*model.StorageCapacity)
			if is {
				rooms[room.ID] = room
			}
			return is
		})
		if want := twin.decided(o, n.Node.Name); !reflect.DeepEqual(rest, want) && len(rest)+len(want) > 0 {
			return fmt.Sprintf("node %s: decided %+v, want %+v", n.Node.Name, rest, want)
		}
		if want := twin.roomsAfter(o); !reflect.DeepEqual(rooms, want) {
			return fmt.Sprintf("node %s: takes room %+v, want %+v", n.Node.Name, rooms, want)
		}
		if len(rest) > 1 {
			met["several decided"]++
		}
		if len(rooms) > 0 {
			met["room taken"]++
		}
	}
	return ""
}
