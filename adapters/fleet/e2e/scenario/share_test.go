package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestShares(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"a reservation is for its users, while it is on", reservation},
		{"limits hold, and jobs go where their accounts say", limits},
		{"users share, and say what they are entitled to", shares},
	})
}

func reservation(t *testing.T, c *cluster.Cluster) {
	eve := c.Bearer(c.Berth("token", "create", "eve"))
	require.Contains(t, c.Try("reservation", "create", "course", "--nodes", "n3", "--start", "now+8s", "--duration", "1h", "--users", "eve").Out, "Reservation course is from")
	early := eve.Submit("--cpu", "0.1", "-t", "10m", "--reservation", "course", "--", "true")
	j := c.Waits(early, job.ReasonReservation)
	require.Contains(t, j.Message, "reservation course begins at")
	require.Contains(t, eve.Berth("jobs", "--start"), "not before ")
	c.Refused(2, []string{"may not use reservation course"}, "submit", "--reservation", "course", "--", "true")
	other := c.Submit("--cpu", "0.1", "-t", "10m", "-w", "n3", "--", "true")
	c.Waits(other, job.ReasonResources)
	require.Contains(t, c.Berth("explain", other.String()), "is set aside by reservation course")

	done := c.Ended(early, job.Completed)
	require.Equal(t, "n3", done.Attempts[0].Nodes[0])
	var list api.ReservationList
	c.JSON(&list, "reservation", "list")
	require.True(t, list.Reservations[0].Active)
	require.False(t, done.Attempts[0].Started.Before(list.Reservations[0].From.Add(-time.Second)), "it waited")
	c.Waits(other, job.ReasonResources)
	c.Berth("reservation", "delete", "course")
	c.Ended(other, job.Completed)
}

func limits(t *testing.T, c *cluster.Cluster) {
	eve := c.Bearer(c.Berth("token", "create", "eve"))
	c.Berth("queue", "create", "lab", "--weight", "2")
	c.Berth("account", "set", "lab", "--queue", "lab")
	c.Berth("user", "set", "eve", "--account", "lab")
	c.Berth("limit", "set", "two", "--account", "lab", "--running", "2")
	c.Refused(1, []string{"is needed by account"}, "queue", "remove", "lab")
	var ids []job.ID
	for range 3 {
		ids = append(ids, eve.Submit("--cpu", "0.1", "--kill-grace", "5s", "--", "sleep", "600"))
	}
	c.In(ids[0], job.Running)
	c.In(ids[1], job.Running)
	j := c.Waits(ids[2], job.ReasonQueueLimit)
	require.Equal(t, "lab", j.Queue)
	require.Equal(t, fmt.Sprintf("limit two: job %d is 1 task too many now", ids[2]), j.Message)
	require.Contains(t, eve.Berth("prio"), "limit two")
	end(c, ids[0])
	c.In(ids[2], job.Running)
	end(c, ids[1:]...)
	c.Berth("limit", "remove", "two")
	c.Berth("user", "remove", "eve")
	c.Berth("account", "remove", "lab")
	c.Berth("queue", "remove", "lab")
}

func shares(t *testing.T, c *cluster.Cluster) {
	var nodes api.NodeList
	c.JSON(&nodes, "nodes")
	half := fmt.Sprintf("%dm", int64(nodes.Nodes[0].Machine.CPU)/2)
	c.Berth("account", "set", "uni")
	eve, bob := c.Bearer(c.Berth("token", "create", "eve")), c.Bearer(c.Berth("token", "create", "bob"))
	var ids []job.ID
	for range 12 { // six fit
		ids = append(ids, eve.Submit("--cpu", half, "--kill-grace", "1s", "-t", "1h", "--", "sleep", "600"))
	}
	c.In(ids[5], job.Running)
	for range 6 {
		ids = append(ids, bob.Submit("--cpu", half, "--kill-grace", "1s", "-t", "1h", "--", "sleep", "600"))
	}
	end(c, ids[:3]...)
	c.In(ids[12], job.Running)
	c.In(ids[14], job.Running)
	var list api.ShareList
	c.JSON(&list, "share")
	require.True(t, list.ByQueues)
	got := map[string]int32{}
	for _, s := range list.Shares {
		got[s.User] = s.Running
	}
	require.Equal(t, map[string]int32{"": 6, "bob": 3, "eve": 3}, got)
	end(c, ids[3:]...)
	c.Berth("account", "remove", "uni")
}
