package scheduler

import (
	"sync"
	"time"
)

// heartbeats are what the leader has heard of nodes since it leads. They are not
// recorded: a new leader gives each node the time of one more heartbeat.
type heartbeats struct {
	mu    sync.Mutex
	nodes map[string]beat
}

// beat is the last that was heard of a node.
type beat struct {
	seen      time.Time
	heard     bool // by this leader
	unhealthy string
}

func newHeartbeats() *heartbeats { return &heartbeats{nodes: map[string]beat{}} }

// Heartbeat notes that a node has been heard of, and what its health script
// complains of.
func (c *Controller) Heartbeat(node, unhealthy string) {
	c.beats.mu.Lock()
	defer c.beats.mu.Unlock()
	c.beats.nodes[node] = beat{seen: time.Now(), heard: true, unhealthy: unhealthy}
}

// Interval is the time between two heartbeats of a node, as long as there are so
// many nodes.
func (c *Controller) Interval() time.Duration {
	c.beats.mu.Lock()
	n := len(c.beats.nodes)
	c.beats.mu.Unlock()
	return max(c.cfg.Times.Heartbeat, time.Duration(n)*time.Second/time.Duration(c.cfg.Times.HeartbeatRate))
}

// Seen is when a node was last heard of by this leader; zero: it was not.
func (c *Controller) Seen(node string) time.Time {
	if b := c.beats.of(node); b.heard {
		return b.seen
	}
	return time.Time{}
}

func (b *heartbeats) of(node string) beat {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nodes[node]
}

// know begins to wait for a node.
func (b *heartbeats) know(node string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.nodes[node]; !ok {
		b.nodes[node] = beat{seen: now}
	}
}

func (b *heartbeats) forget(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.nodes, node)
}

// restart waits for all nodes anew, for none was asked for a while.
func (b *heartbeats) restart(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for node, x := range b.nodes {
		x.seen = now
		b.nodes[node] = x
	}
}
