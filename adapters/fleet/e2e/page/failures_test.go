package page

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// TestFailures: what has gone wrong is on the page with its reason, on a screen and on a telephone.
func TestFailures(t *testing.T) {
	findBrowser(t)
	f := startFleet(t, "n1", "n2")
	eve := f.client(t, pki.Identity{Role: pki.User, Name: "eve"})
	dropped := f.dropOutput(t, eve)
	evicted, by := f.evict(t, eve)
	elsewhere := f.failOn1(t, eve)

	b := openBrowser(t, f)
	b.do(t, chromedp.Navigate("https://"+f.address+"/"))
	b.do(t, chromedp.SendKeys("#token", f.token(t, "eve")+kb.Enter))
	b.sees(t, "#who", "eve (user)")
	require.Equal(t, []string{"401 /v1/self"}, b.answered(), "before there was a token")
	const wrong, attempts = "not a directory", "[aria-label='Attempts that have ended'] td"
	for _, screen := range [][2]int64{{1280, 800}, {390, 844}} {
		b.do(t, chromedp.EmulateViewport(screen[0], screen[1]))
		for _, view := range []struct{ at, selector, text string }{
			{"/", "table[aria-label='Nodes that need a look'] td", wrong},
			{"/nodes", "td", "UNHEALTHY"},
			{"/nodes", "td", wrong},
			{"/nodes/n1", "h1", "UNHEALTHY"},
			{"/nodes/n1", "dd", wrong},
			{"/jobs/" + idText(elsewhere), "h1", "COMPLETED"},
			{"/jobs/" + idText(elsewhere), attempts, "BOOT_FAIL"},
			{"/jobs/" + idText(elsewhere), attempts, "n1"},
			{"/jobs/" + idText(elsewhere), attempts, "data folder: " + wrong},
			{"/jobs/" + idText(elsewhere), attempts, "n2"},
			{"/jobs/" + idText(dropped), "h1", "COMPLETED"},
			{"/jobs/" + idText(dropped), attempts, "bytes of stdout were dropped: the node keeps at most 2Mi of it"},
			{"/jobs/" + idText(dropped) + "/log?from=start", "#log-end", "bytes are not kept."},
			{"/jobs/" + idText(dropped) + "/log?from=start", "#log-end", "There may be more after these 1048576 bytes"},
			{"/jobs/" + idText(evicted), attempts, "PREEMPTED"},
			{"/jobs/" + idText(evicted), attempts, "it gives room back to queue owners, for job " + idText(by)},
		} {
			b.open(t, view.at)
			b.sees(t, view.selector, view.text)
			require.LessOrEqual(t, value[int64](t, b, "document.documentElement.scrollWidth"), screen[0], view.at)
		}
	}
	require.Empty(t, b.trouble())
	require.Empty(t, b.answered())
}

// dropOutput runs a job that writes more than is kept.
func (f *fleet) dropOutput(t *testing.T, eve *client.Client) job.ID {
	id := f.submit(t, eve, job.Spec{Name: "talkative", Command: []string{"seq", "1000000"}, Resources: job.Resources{CPU: 10}})
	f.waitFor(t, id, job.Completed)
	return id
}

// evict has a job of a queue that reclaims displace one of another.
func (f *fleet) evict(t *testing.T, eve *client.Client) (evicted, by job.ID) {
	one, err := f.admin.Node(t.Context(), "n1")
	require.NoError(t, err)
	cpu := one.Machine.CPU
	require.NoError(t, f.admin.SetQueue(t.Context(), api.Queue{Name: "owners", Guaranteed: &api.Amounts{CPU: &cpu}, Reclaim: api.ReclaimAny}))
	spec := job.Spec{Command: []string{"sleep", "1000"}, Resources: job.Resources{CPU: cpu}}
	borrowed := []job.ID{f.submit(t, eve, spec), f.submit(t, eve, spec)}
	for _, id := range borrowed {
		f.waitFor(t, id, job.Running)
	}
	spec.Queue = "owners"
	by = f.submit(t, eve, spec)
	f.waitFor(t, by, job.Running)
	for _, id := range borrowed {
		j, err := f.admin.Job(t.Context(), id)
		require.NoError(t, err)
		if slices.ContainsFunc(j.Attempts, func(a api.Attempt) bool { return a.State == job.Preempted }) {
			evicted = id
		}
	}
	require.NotZero(t, evicted)
	for _, id := range append(borrowed, by) {
		f.end(t, id)
	}
	return evicted, by
}

// end cancels a job, and waits for its end.
func (f *fleet) end(t *testing.T, id job.ID) {
	_, err := f.admin.Cancel(t.Context(), id, api.Selection{Signal: "KILL"})
	require.NoError(t, err)
	f.waitFor(t, id, job.Cancelled)
}

// failOn1 breaks node n1, and runs a job that is tried there before it runs elsewhere.
func (f *fleet) failOn1(t *testing.T, eve *client.Client) job.ID {
	two, err := f.admin.Node(t.Context(), "n2")
	require.NoError(t, err)
	blocker := f.submit(t, eve, job.Spec{Command: []string{"sleep", "1000"}, Nodes: []string{"n2"}, Resources: job.Resources{CPU: two.Machine.CPU}})
	f.waitFor(t, blocker, job.Running)
	work := filepath.Join(f.dir, "n1", "work")
	require.NoError(t, os.Rename(work, work+".away"))
	require.NoError(t, os.WriteFile(work, nil, 0o600))
	id := f.submit(t, eve, job.Spec{Name: "unlucky", Command: []string{"true"}, Resources: job.Resources{CPU: 10}})
	f.eventually(t, "it was tried on n1", func() bool {
		j, err := f.admin.Job(t.Context(), id)
		return err == nil && len(j.Attempts) > 0 && strings.Contains(j.Attempts[0].Message, "not a directory")
	})
	f.end(t, blocker)
	f.waitFor(t, id, job.Completed)
	return id
}
