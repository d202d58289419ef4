package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// logFormat is the format of the lines that a [Recorder] writes.
const logFormat = 1

// header is the first line of a log: which engine wrote it.
type header struct {
	Format int
	// Version is that of this module, or devel.
	Version string
	// Config are the settings that have a part in decisions, as text by name.
	Config map[string]string
	// State is what the engine had at the beginning; none for a new engine. Sum is its
	// hash.
	State json.RawMessage `json:",omitempty"`
	Sum   string          `json:",omitempty"`
}

// releasesDevices is the setting that tells of an orchestrator that is a [extpoints.DeviceReleaser].
const releasesDevices = "Orchestrator releases devices"

// standIn stands in for the orchestrator of the recording in a replay.
func (h *header) standIn() extpoints.Orchestrator {
	if h.Config[releasesDevices] == fmt.Sprint(true) {
		return missingReleaser{}
	}
	return missing{}
}

// missing is the orchestrator of an engine that was replayed without one.
type missing struct{}

var errMissing = errors.New("there is no orchestrator: the engine was replayed without one")

// Bind implements [extpoints.Orchestrator].
func (missing) Bind(context.Context, *model.Workload, model.Binding) error { return errMissing }

// Evict implements [extpoints.Orchestrator].
func (missing) Evict(context.Context, *model.Workload, string) error { return errMissing }

// missingReleaser is missing where the recorded orchestrator released devices.
type missingReleaser struct{ missing }

// ReleaseDevices implements [extpoints.DeviceReleaser].
func (missingReleaser) ReleaseDevices(context.Context, *model.DeviceClaim, *model.DeviceClaim) error {
	return errMissing
}

// firstLine is the header as a line of its own kind.
type firstLine struct{ Berth *header }

// headerOf is that of the log of an engine of the configuration.
func headerOf(c *Config, profiles *decide.Profiles) *header {
	set := map[string]string{}
	text := func(name string, value any) { set[name] = fmt.Sprint(value) }
	text("PercentageOfNodesToScore", c.PercentageOfNodesToScore)
	text("TieBreak", c.TieBreak)
	text("Seed", c.Seed)
	text("Compat", c.Compat)
	if c.Order != OrderBySort { // logs are older than the setting
		text("Order", c.Order)
	}
	text("Queue.InitialBackoff", c.Queue.InitialBackoff)
	text("Queue.MaxBackoff", c.Queue.MaxBackoff)
	text("Queue.MaxInUnschedulable", c.Queue.MaxInUnschedulable)
	text("Queue.UnschedulableFlushInterval", c.Queue.UnschedulableFlushInterval)
	text("Queue.OrderingWindow", c.Queue.OrderingWindow)
	text("Queue.NoPopFromBackoff", c.Queue.NoPopFromBackoff)
	if c.Backfill.Mode != NoPlan {
		text("Backfill", fmt.Sprintf("%+v", c.Backfill))
	}
	_, releases := c.Orchestrator.(extpoints.DeviceReleaser)
	text(releasesDevices, releases)
	var names []string
	for i := range c.Profiles {
		p := &c.Profiles[i]
		names = append(names, p.Name)
		of := fmt.Sprintf("profile %q, ", p.Name)
		if p.PercentageOfNodesToScore != nil {
			text(of+"PercentageOfNodesToScore", *p.PercentageOfNodesToScore)
		}
		f := profiles.ByName()[p.Name]
		for _, at := range f.Serving() {
			text(of+string(at.Point), strings.Join(at.Plugins, ", "))
		}
		for name, args := range f.Args() {
			text(of+"Args of "+name, hashOf(args))
		}
	}
	text("Profiles", strings.Join(names, ", "))
	for i := range c.Extenders {
		x := &c.Extenders[i]
		text(fmt.Sprintf("Extenders[%d]", i), fmt.Sprintf("%s, weight %d%s%s%s%s%s", x.Name, x.Weight,
			does("filter", x.Filter != nil), does("prioritize", x.Prioritize != nil), does("preempt", x.Preempt != nil),
			does("bind", x.Bind != nil), does("ignorable", x.Ignorable)))
	}
	return &header{Format: logFormat, Version: version(), Config: set}
}

// does is the verb, as one of a list, where the condition holds.
func does(verb string, yes bool) string {
	if !yes {
		return ""
	}
	return ", " + verb
}

// differs lists the settings in which another header differs.
func (h *header) differs(other *header) (list []string) {
	all := maps.Clone(h.Config)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, other.Config)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if recorded, given := h.Config[name], other.Config[name]; recorded != given {
			list = append(list, setting(name, recorded, given))
		}
	}
	return list
}

func setting(name, recorded, given string) string {
	orNone := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	return fmt.Sprintf("%s: recorded %s, given %s", name, orNone(recorded), orNone(given))
}

// hashOf tells arguments apart by their form as JSON; those that have none, or panic when they
// are asked for it, by their type alone.
func hashOf(args any) (hash string) {
	defer func() {
		if recover() != nil {
			hash = fmt.Sprintf("%T", args)
		}
	}()
	text, err := json.Marshal(args)
	if err != nil {
		return fmt.Sprintf("%T", args)
	}
	return sumOf(text)
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text))[:16] }

const modulePath = "github.com/berth-project/berth"

// version is that of this module in the program.
var version = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == modulePath && m.Version != "" && m.Version != "(devel)" {
				return m.Version
			}
		}
	}
	return "devel"
})
