package scenario

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestAccounts(t *testing.T) {
	tell(t, cluster.Options{Servers: 1, Agents: racks()}, []part{
		{"a log is followed to its end", followLog},
		{"events tell a job's way", events},
		{"usage is counted, and written as CSV and SWF", usage},
		{"users see and touch their own jobs only", roles},
		{"tokens end", tokens},
		{"commands print tables, JSON and YAML", formats},
	})
}

func followLog(t *testing.T, c *cluster.Cluster) {
	dir := t.TempDir()
	id := c.Submit("--cpu", "0.1", "--", "sh", "-c", fmt.Sprintf("echo one; while ! test -e %s/go; do sleep 0.1; done; echo two", dir))
	f := c.Follow("logs", "-f", id.String())
	c.Until("the first line comes while the job runs", func() error {
		if f.Text() != "one\n" {
			return fmt.Errorf("%q", f.Text())
		}
		return nil
	})
	require.NoError(t, os.WriteFile(dir+"/go", nil, 0o600))
	require.Zero(t, f.Wait(), "it ends with the job")
	require.Equal(t, "one\ntwo\n", f.Text())
}

func events(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--hold", "--cpu", "0.1", "--", "true")
	c.Berth("release", id.String())
	c.Ended(id, job.Completed)
	var kinds []string
	for line := range strings.Lines(c.Berth("events", "--job", id.String())) {
		kinds = append(kinds, strings.Fields(line)[2])
	}
	require.Equal(t, []string{"submitted", "released", "placed", "running", "ended", "finished"}, kinds)
}

func usage(t *testing.T, c *cluster.Cluster) {
	eve := c.Bearer(c.Berth("token", "create", "eve"))
	id := eve.Submit("--name", "busy", "--cpu", "500m", "--memory", "256Mi", "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 1")
	j := c.Ended(id, job.Completed)
	at := j.Attempts[0]
	wall := at.Ended.Sub(at.Started).Seconds()
	require.Greater(t, at.Usage.CPUSeconds, 0.01)
	require.Greater(t, int64(at.Usage.PeakMemory), int64(100<<10))

	rows, err := csv.NewReader(strings.NewReader(c.Berth("usage", "--csv", "--by", "job", "--owner", "eve"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, []string{"eve", id.String(), "busy", "1"}, rows[1][:4])
	var list api.UsageList
	c.JSON(&list, "usage", "--by", "user", "--owner", "eve")
	require.Len(t, list.Rows, 1)
	row := list.Rows[0]
	require.GreaterOrEqual(t, row.WallSeconds, 1.0)
	require.InDelta(t, wall, row.WallSeconds, 30, "about the attempt's time, as the node has it")
	require.InDelta(t, row.WallSeconds/2, row.AllocSeconds, 0.1, "half a core was set aside")
	require.InDelta(t, at.Usage.CPUSeconds, row.CPUSeconds, 0.001)
	require.Equal(t, at.Usage.PeakMemory, row.PeakMemory)

	var lines [][]string
	for line := range strings.Lines(c.Berth("usage", "--swf", "--owner", "eve")) {
		if !strings.HasPrefix(line, ";") {
			lines = append(lines, strings.Fields(line))
		}
	}
	require.Len(t, lines, 1)
	require.Len(t, lines[0], 18)
	require.Equal(t, id.String(), lines[0][0])
	require.Equal(t, "1", lines[0][10], "it has completed")
	require.Equal(t, fmt.Sprint(j.Submitted.Unix()), lines[0][1])
}

func roles(t *testing.T, c *cluster.Cluster) {
	eve, mallory := c.Bearer(c.Berth("token", "create", "eve")), c.Bearer(c.Berth("token", "create", "mallory"))
	boss := c.Bearer(c.Berth("token", "create", "boss", "--role", "operator"))
	id := eve.Submit("--name", "mine", "--cpu", "0.1", "--kill-grace", "5s", "--", "sh", "-c", "echo secret; sleep 600")
	c.In(id, job.Running)
	for _, args := range [][]string{
		{"job"}, {"logs"}, {"explain"}, {"cancel"}, {"hold"}, {"release"}, {"requeue"}, {"wait"},
	} {
		a := mallory.Try(append(args, id.String())...)
		require.Contains(t, []int{3, 4, 125}, a.Code, "%v: %s%s", args, a.Out, a.Bad)
		require.NotContains(t, a.Out, "secret")
	}
	require.NotContains(t, mallory.Berth("jobs", "-o", "name"), id.String())
	require.NotContains(t, mallory.Berth("events", "-o", "json"), `"job":`+id.String()+",")
	for _, args := range [][]string{
		{"node", "drain", "n1"}, {"node", "resume", "n1"}, {"node", "label", "n1", "a=b"}, {"node", "remove", "n1"},
		{"queue", "remove", "default"}, {"token", "create", "x"}, {"token", "list"}, {"server", "members"},
		{"server", "join-token", "agent"}, {"server", "backup", filepath.Join(t.TempDir(), "b")}, {"usage", "--owner", "eve"},
	} {
		mallory.Refused(4, nil, args...)
	}
	require.Contains(t, eve.Berth("jobs"), "mine")
	boss.Berth("job", id.String())
	boss.Berth("hold", id.String())
	boss.Berth("release", id.String())
	eve.Berth("cancel", id.String())
	c.Ended(id, job.Cancelled)
	held := eve.Submit("--begin", "now+1h", "--", "true")
	boss.Berth("hold", held.String())
	eve.Refused(4, []string{"operator"}, "release", held.String())
	end(c, held)
}

func tokens(t *testing.T, c *cluster.Cluster) {
	u := c.Bearer(c.Berth("token", "create", "temporary"))
	u.Berth("jobs")
	var list api.TokenList
	c.JSON(&list, "token", "list")
	var id string
	for _, k := range list.Tokens {
		if k.Name == "temporary" {
			id = k.ID
		}
	}
	require.NotEmpty(t, id)
	c.Berth("token", "remove", id)
	u.Refused(4, nil, "jobs")
	short := c.Bearer(c.Berth("token", "create", "short", "--expires", "2s"))
	c.Until("the token is good no longer", func() error {
		if a := short.Try("jobs"); a.Code != 4 {
			return fmt.Errorf("exit code %d", a.Code)
		}
		return nil
	})
	c.Bearer("berth-wrong").Refused(4, nil, "jobs")
	c.Berth("server", "revoke", "user/temporary")
	require.Contains(t, c.Berth("server", "revocations"), "user/temporary")
}

func formats(t *testing.T, c *cluster.Cluster) {
	id := c.Submit("--name", "shown", "--", "true")
	c.Ended(id, job.Completed)
	require.Regexp(t, `(?m)^`+id.String()+` +shown +admin .*COMPLETED`, c.Berth("jobs"))
	var list api.JobList
	c.JSON(&list, "jobs", "--name", "shown")
	require.Len(t, list.Jobs, 1)
	require.Contains(t, c.Berth("job", id.String(), "-o", "yaml"), "name: shown")
	require.Contains(t, c.Berth("job", id.String()), "COMPLETED")
	require.Contains(t, c.Berth("nodes"), "n3")
	require.Contains(t, c.Berth("queue"), "default")
	require.Contains(t, c.Berth("server", "status"), "s1")
	require.NotContains(t, c.Berth("jobs"), "\x1b", "no colours but on a terminal")
	require.Contains(t, c.Berth("completion", "bash"), "berth")
}
