package config

import (
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/queue"
)

// Queue is what the configuration says of the queue, for engine.Config.Queue; the
// rest has its defaults.
func (c *Config) Queue() queue.Timing {
	return queue.Timing{
		InitialBackoff:   seconds(ptr.Deref(c.Effective.PodInitialBackoffSeconds, 0)),
		MaxBackoff:       seconds(ptr.Deref(c.Effective.PodMaxBackoffSeconds, 0)),
		NoPopFromBackoff: !c.gates.SchedulerPopFromBackoffQ,
	}
}

// Workers is how many goroutines look at the nodes of one decision, for
// engine.Config.Workers.
func (c *Config) Workers() int { return int(ptr.Deref(c.Effective.Parallelism, 0)) }

// PercentageOfNodesToScore is that of profiles that have none of their own, for the
// field of engine.Config of the same name; 0: adaptive.
func (c *Config) PercentageOfNodesToScore() int32 {
	return ptr.Deref(c.Effective.PercentageOfNodesToScore, 0)
}
