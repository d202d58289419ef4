package replica

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"

	"github.com/berth-project/berth/adapters/fleet/pki"
)

// Config says what a replica is.
type Config struct {
	// ID is the server's name, the same for all its life. Required.
	ID string
	// Address is where the other servers reach it, host:port. Required.
	Address string
	// Dir is a folder of its own, which is made if it is not there. Required.
	Dir string
	// Machine is the state. It starts empty; Open restores it. Required.
	Machine Machine
	// Knows is the newest version of commands and pictures that Machine knows. What is
	// newer in the log stops the replica, see ErrNewer. Default: 1.
	Knows uint8
	// Keeper has the server's certificates. Required.
	Keeper *pki.Keeper
	// Trust refuses other servers' certificates that were revoked. Default: none.
	Trust func(*x509.Certificate) error
	// Bootstrap makes a new replica the first, and so far only, server of its fleet.
	// Where there is a state already it does nothing. A replica that is not
	// bootstrapped waits to be added by the leader, see AddVoter.
	Bootstrap bool
	// Slowness stretches all times within which servers must hear of each other: 1
	// is for a local network, where a lost leader is replaced within about two
	// seconds. Default: 1.
	Slowness float64
	// Log. Default: none.
	Log hclog.Logger

	// dial connects to an address; tests cut networks with it.
	dial func(ctx context.Context, address string) (net.Conn, error)
	// wrapLog lets tests make the disk fail.
	wrapLog func(raft.LogStore) raft.LogStore
	// tune lets tests take snapshots early.
	tune func(*raft.Config)
	// segment is the size of the log's files, in bytes.
	segment int
	// depth is how many entries may be on their way at once.
	depth int
}

// defaultDepth was measured, see BenchmarkPropose: two let the leader's disk write
// one entry while the followers' write the one before; with more, commands that
// could share an entry, and its fsync, get one each.
const defaultDepth = 2

func (c Config) withDefaults() (Config, error) {
	var errs []error
	need := func(ok bool, field string) {
		if !ok {
			errs = append(errs, fmt.Errorf("field %s is missing", field))
		}
	}
	need(c.ID != "", "ID")
	need(c.Address != "", "Address")
	need(c.Dir != "", "Dir")
	need(c.Machine != nil, "Machine")
	need(c.Keeper != nil, "Keeper")
	if c.Keeper != nil && c.Keeper.Identity().Role != pki.Server {
		errs = append(errs, errors.New("field Keeper has no server's certificate"))
	}
	if c.Slowness < 0 {
		errs = append(errs, fmt.Errorf("field Slowness is %v, below 0", c.Slowness))
	}
	if c.Slowness == 0 {
		c.Slowness = 1
	}
	if c.Log == nil {
		c.Log = hclog.NewNullLogger()
	}
	if c.Trust == nil {
		c.Trust = func(*x509.Certificate) error { return nil }
	}
	if c.dial == nil {
		c.dial = func(ctx context.Context, address string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", address)
		}
	}
	if c.wrapLog == nil {
		c.wrapLog = func(s raft.LogStore) raft.LogStore { return s }
	}
	if c.tune == nil {
		c.tune = func(*raft.Config) {}
	}
	if c.segment == 0 {
		c.segment = wal.DefaultSegmentSize
	}
	if c.Knows == 0 {
		c.Knows = firstVersion
	}
	if c.depth == 0 {
		c.depth = defaultDepth
	}
	return c, errors.Join(errs...)
}

// stretch is a time, slowed down.
func (c Config) stretch(d time.Duration) time.Duration {
	return time.Duration(float64(d) * c.Slowness)
}

const (
	// cachedEntries of the log are held in memory for the followers.
	cachedEntries = 64
	// keptSnapshots on the disk; the one before is there in case the newest cannot be
	// read.
	keptSnapshots = 2
	// pooledConns to each follower.
	pooledConns = 3
)

func (c Config) raft(notify chan<- bool) *raft.Config {
	rc := raft.DefaultConfig()
	rc.LocalID = raft.ServerID(c.ID)
	rc.HeartbeatTimeout = c.stretch(time.Second)
	rc.ElectionTimeout = c.stretch(time.Second)
	rc.LeaderLeaseTimeout = c.stretch(500 * time.Millisecond)
	rc.CommitTimeout = 50 * time.Millisecond
	// At most 8 MiB in one message.
	rc.MaxAppendEntries = 16
	// An entry of a busy fleet has some ten KiB. A snapshot is taken every minute or
	// two at the most, and a follower that was away that long needs none.
	rc.SnapshotInterval = time.Minute
	rc.SnapshotThreshold = 16384
	rc.TrailingLogs = 10240
	// A server that was removed stays, as a follower of nobody, until it is ended.
	rc.ShutdownOnRemove = false
	rc.NoLegacyTelemetry = true
	rc.NotifyCh = notify
	rc.Logger = c.Log.Named("raft")
	c.tune(rc)
	return rc
}
