package cluster

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent"
	"github.com/berth-project/berth/adapters/fleet/daemon"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Options say what fleet to start.
type Options struct {
	// Servers is how many there are, s1 and so on. Default: 3.
	Servers int
	Agents  []daemon.AgentSettings // one each
	// Unreachable, Lost and Heartbeat are those of the servers. Defaults: 3 s, 5 s,
	// 500 ms: as fast as a busy machine lets a test be.
	Unreachable, Lost, Heartbeat time.Duration
	// Disks are sizes, in bytes, of small file systems for the data of the processes of
	// these names. They need root.
	Disks map[string]int64
	// NoExec are the names of those on whose disks nothing can be executed.
	NoExec []string
	// Over is, for the agents of these names, what they and their tasks see at a path in place
	// of what is there: a file, or where it is "", an empty folder. It needs root.
	Over map[string]map[string]string
	// Revive starts processes again that have ended without being stopped, as systemd
	// would.
	Revive bool
}

func (o Options) withDefaults() Options {
	if o.Servers == 0 {
		o.Servers = 3
	}
	for field, d := range map[*time.Duration]time.Duration{
		&o.Unreachable: 3 * time.Second, &o.Lost: 5 * time.Second, &o.Heartbeat: 500 * time.Millisecond,
	} {
		if *field == 0 {
			*field = d
		}
	}
	return o
}

// Nodes are the settings of agents of these names. Tasks run as who runs the test.
func Nodes(names ...string) []daemon.AgentSettings {
	var out []daemon.AgentSettings
	for _, name := range names {
		out = append(out, Node(name, nil))
	}
	return out
}

// Node are the settings of an agent with labels.
func Node(name string, labels map[string]string) daemon.AgentSettings {
	s := daemon.AgentSettings{Labels: labels, Accounts: agent.AccountsOwn, MaxKillGrace: job.Duration(time.Minute)}
	s.PinCores = new(false) // agents on one machine do not know of each other's
	s.Name = name
	return s
}
