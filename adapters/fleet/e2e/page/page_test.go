package page

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// hostile is a name that would be an element if it were taken for HTML, and another
// text than it is where it is not made visible.
const hostile = "<img src=x onerror=alert(1)>"

// TestPage is a user's visit, step by step, in one browser.
func TestPage(t *testing.T) {
	findBrowser(t)
	f := startFleet(t, "n1")
	eve := f.client(t, pki.Identity{Role: pki.User, Name: "eve"})
	gate := filepath.Join(t.TempDir(), "gate")
	running := f.submit(t, eve, job.Spec{
		Name: hostile, Resources: job.Resources{CPU: 100},
		Script: "#!/bin/sh\necho 'first <b>line</b>'\nprintf '\\033[31mred\\033[0m \\033[2J\\n'\necho problem >&2\n" +
			"while [ ! -e " + gate + " ]; do sleep 0.1; done\necho second line\nsleep 1000\n",
	})
	array, err := job.ParseArray("0-9%2")
	require.NoError(t, err)
	waiting := f.submit(t, eve, job.Spec{
		Name: "toobig", Command: []string{"true"}, Resources: job.Resources{CPU: 1000_000}, Array: array,
	})
	other := f.submit(t, f.admin, job.Spec{Name: "notyours", Command: []string{"true"}, Hold: true})
	f.waitFor(t, running, job.Running)

	b := openBrowser(t, f)
	t.Run("log in", func(t *testing.T) { logIn(t, b, f) })
	t.Run("jobs", func(t *testing.T) { seeJobs(t, b) })
	t.Run("news", func(t *testing.T) { seeNews(t, b, f, waiting) })
	t.Run("explanation", func(t *testing.T) { seeExplanation(t, b, waiting) })
	t.Run("log", func(t *testing.T) { seeLog(t, b, running, gate) })
	t.Run("hold and release", func(t *testing.T) { holdAndRelease(t, b, f, waiting) })
	t.Run("cancel", func(t *testing.T) { cancel(t, b, f, running) })
	t.Run("bad input", func(t *testing.T) { badInput(t, b, waiting) })
	t.Run("expected start", func(t *testing.T) { seeExpected(t, b, f, eve) })
	t.Run("shares", func(t *testing.T) { seeShares(t, b, f) })
	t.Run("timeline", func(t *testing.T) { seeTimeline(t, b, f, eve) })
	t.Run("mistake", func(t *testing.T) { seeMistake(t, b, f, eve) })
	t.Run("nodes", func(t *testing.T) { seeNodes(t, b) })
	t.Run("node's fault", func(t *testing.T) { seeFault(t, b, f, eve) }) // n1 is unhealthy until its next check of itself
	t.Run("not yours", func(t *testing.T) { notYours(t, b, other) })
	t.Run("events", func(t *testing.T) { seeEvents(t, b, running) })
	t.Run("narrow and dark", func(t *testing.T) { narrowAndDark(t, b, running, waiting) })
	t.Run("no server", func(t *testing.T) { loseServer(t, b, running) })
	t.Run("log out", func(t *testing.T) { logOut(t, b) })
	require.Empty(t, b.trouble())
	require.Empty(t, b.answered())
}

// logIn shows a token that is not good, and then one that is.
func logIn(t *testing.T, b *browser, f *fleet) {
	b.do(t, chromedp.Navigate("https://"+f.address+"/"))
	b.sees(t, "h1", "Who are you?")
	b.do(t, chromedp.SendKeys("#token", "nonsense"+kb.Enter))
	b.sees(t, "[role=alert]", "This token is not good")
	require.Equal(t, []string{"401 /v1/self", "401 /v1/self"}, b.answered())
	b.do(t, chromedp.SetValue("#token", f.token(t, "eve")))
	b.click(t, "form", "Log in")
	b.sees(t, "h1", "Cluster")
	b.sees(t, "#who", "eve (user)")
	b.sees(t, "table[aria-label=Queues] td", "default")
	require.Equal(t, 1, value[int](t, b, "sessionStorage.length"))
	require.Equal(t, 0, value[int](t, b, "localStorage.length"))
	require.Empty(t, value[string](t, b, "document.cookie"))
}

// seeJobs finds the user's jobs, and no others, with their names as text.
func seeJobs(t *testing.T, b *browser) {
	b.click(t, "nav", "Jobs")
	b.sees(t, "td", hostile)
	b.sees(t, "td", "(BadConstraints)")
	require.Equal(t, 2, value[int](t, b, "document.querySelectorAll('main tbody tr').length"))
	require.Equal(t, 0, value[int](t, b, "document.querySelectorAll('main img').length"))
	b.do(t, chromedp.SetValue("[name=state]", "PENDING"), chromedp.SendKeys("[name=name]", "toobig"+kb.Enter))
	b.until(t, "document.querySelectorAll('main tbody tr').length === 1")
	b.sees(t, "td", "toobig")
	require.Equal(t, "#/jobs?state=PENDING&name=toobig", value[string](t, b, "location.hash"))
	b.do(t, chromedp.SetValue("[name=name]", "nosuch"), chromedp.SendKeys("[name=name]", kb.Enter))
	b.sees(t, "main", "No job is like that.")
}

// seeNews sees what changes without doing anything, and what was being typed is still
// there.
func seeNews(t *testing.T, b *browser, f *fleet, id job.ID) {
	b.open(t, "/jobs")
	b.sees(t, "td", hostile)
	b.do(t, chromedp.SendKeys("[name=owner]", "ev"))
	_, err := f.admin.Hold(t.Context(), id, api.Selection{})
	require.NoError(t, err)
	b.sees(t, "td", "(JobHeldAdmin)")
	b.do(t, chromedp.KeyEvent("e"))
	require.Equal(t, "eve", value[string](t, b, "document.querySelector('[name=owner]').value"))
	_, err = f.admin.Release(t.Context(), id, api.Selection{})
	require.NoError(t, err)
	b.sees(t, "td", "(BadConstraints)")
}

// seeExplanation reads why a job waits.
func seeExplanation(t *testing.T, b *browser, id job.ID) {
	b.open(t, "/jobs")
	b.sees(t, "td", "toobig")
	b.click(t, "main", "toobig")
	b.sees(t, "h1", "Job "+idText(id))
	b.click(t, "nav", "Explanation")
	b.sees(t, "main", "0 of 1 nodes fit.")
	b.sees(t, "table[aria-label=Nodes] td", "n1")
	b.sees(t, "table[aria-label=Nodes] td", "has less cpu than asked for")
}

// seeExpected reads when the second of two jobs will start that both want the node.
func seeExpected(t *testing.T, b *browser, f *fleet, eve *client.Client) {
	n, err := f.admin.Node(t.Context(), "n1")
	require.NoError(t, err)
	spec := job.Spec{
		Command: []string{"sleep", "1000"}, TimeLimit: job.Duration(time.Hour),
		Resources: job.Resources{CPU: n.Machine.CPU - 200}, // another job has 100
	}
	first := f.submit(t, eve, spec)
	f.waitFor(t, first, job.Running)
	second := f.submit(t, eve, spec)
	for _, view := range []string{"", "/explain"} {
		b.open(t, "/jobs/"+idText(second)+view)
		b.sees(t, "dd", "to start by ")
		b.sees(t, "dd a", "n1")
		b.sees(t, "dt", "Likely")
	}
	for _, id := range []job.ID{first, second} {
		_, err := eve.Cancel(t.Context(), id, api.Selection{})
		require.NoError(t, err)
	}
}

// elements are the indices of an array.
func elements(t *testing.T, text string) job.Array {
	array, err := job.ParseArray(text)
	require.NoError(t, err)
	return array
}

// seeMistake is told why her job cannot be started, in the list and on its page, and once
// for all elements.
func seeMistake(t *testing.T, b *browser, f *fleet, eve *client.Client) {
	id := f.submit(t, eve, job.Spec{Name: "typo", Command: []string{"nosuchprog"}, Resources: job.Resources{CPU: 10}, Array: elements(t, "0-19")})
	f.waitFor(t, id, job.Failed)
	b.open(t, "/jobs?name=typo")
	b.sees(t, "td", "(element 0: program nosuchprog: it is in no folder of PATH")
	b.open(t, "/jobs/"+idText(id))
	b.sees(t, "dd", "element 0: program nosuchprog: it is in no folder of PATH")
	b.sees(t, "td", "0-19")
	b.until(t, `document.querySelectorAll("[aria-label='Attempts that never ran'] tbody tr").length === 1`)
	b.sees(t, ".empty", "No others.")
	b.open(t, "/jobs/"+idText(id)+"/explain")
	b.sees(t, "dd", "program nosuchprog: it is in no folder of PATH")
	b.sees(t, "td", "0-19")
}

// seeFault is told what is wrong with a node, while her job waits to be tried elsewhere.
func seeFault(t *testing.T, b *browser, f *fleet, eve *client.Client) {
	work := filepath.Join(f.dir, "n1", "work")
	require.NoError(t, os.Rename(work, work+".away"))
	require.NoError(t, os.WriteFile(work, nil, 0o600))
	id := f.submit(t, eve, job.Spec{Name: "unlucky", Command: []string{"true"}, Resources: job.Resources{CPU: 10}, Array: elements(t, "0-4")})
	f.eventually(t, "all have been tried", func() bool {
		j, err := eve.Job(t.Context(), id)
		return err == nil && len(j.Attempts) >= 5 && j.Reason == job.ReasonBackoff
	})
	const says = "n1: data folder: not a directory"
	b.open(t, "/jobs?name=unlucky")
	b.sees(t, "td", "(Backoff: "+says+")")
	b.open(t, "/jobs/"+idText(id))
	b.sees(t, "dd", "Backoff until ")
	b.sees(t, "dd", says)
	b.sees(t, "td", "Backoff, the first until ")
	b.until(t, `document.querySelectorAll("[aria-label='Elements and tasks under way'] tbody tr").length === 1`)
	b.open(t, "/jobs/"+idText(id)+"/explain")
	b.sees(t, "dd", says)
	_, err := eve.Cancel(t.Context(), id, api.Selection{})
	require.NoError(t, err)
	require.NoError(t, os.Remove(work))
	require.NoError(t, os.Rename(work+".away", work))
}

// seeLog reads what a job writes, while it writes it.
func seeLog(t *testing.T, b *browser, id job.ID, gate string) {
	b.open(t, "/jobs/"+idText(id)+"/log")
	b.sees(t, "#log", "first <b>line</b>\nred \\x1b[2J\n")
	b.sees(t, "#log-end", "Following")
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	b.sees(t, "#log", "second line")
	b.do(t, chromedp.SetValue("[name=stream]", "stderr"))
	b.click(t, "main", "Show")
	b.sees(t, "#log", "problem")
	b.click(t, "nav", "Spec")
	b.sees(t, "pre", "while [ ! -e "+gate+" ]; do sleep 0.1; done")
}

// holdAndRelease holds a job and releases it.
func holdAndRelease(t *testing.T, b *browser, f *fleet, id job.ID) {
	b.open(t, "/jobs/"+idText(id))
	b.sees(t, "h1", "toobig")
	b.click(t, "main", "Hold")
	b.sees(t, "dialog", "Hold job "+idText(id)+"?")
	b.click(t, "dialog", "Leave it")
	b.until(t, "!document.querySelector('dialog').open")
	b.click(t, "main", "Hold")
	b.click(t, "dialog", "Hold it")
	b.sees(t, "#said", "10 elements held.")
	b.sees(t, "dd", "JobHeldUser")
	j, err := f.admin.Job(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, job.ReasonHeldUser, j.Reason)
	b.click(t, "main", "Release")
	b.click(t, "dialog", "Release it")
	b.sees(t, "#said", "10 elements released.")
}

// cancel ends a job, and sees how it has ended.
func cancel(t *testing.T, b *browser, f *fleet, id job.ID) {
	b.open(t, "/jobs/"+idText(id))
	b.sees(t, "h1", hostile)
	b.click(t, "main", "Cancel")
	b.sees(t, "dialog", hostile)
	b.do(t, chromedp.SendKeys("dialog [name=reason]", "not needed"+kb.Enter))
	b.sees(t, "#said", "1 element cancelled.")
	b.sees(t, "h1", "CANCELLED")
	b.sees(t, "table td", "not needed")
	f.waitFor(t, id, job.Cancelled)
	require.Equal(t, 0, value[int](t, b, "document.querySelectorAll('main img, dialog img').length"))
}

// badInput asks for what cannot be, and is told which field is wrong.
func badInput(t *testing.T, b *browser, id job.ID) {
	b.open(t, "/jobs/"+idText(id))
	b.sees(t, "h1", "toobig")
	b.click(t, "main", "Cancel")
	b.do(t, chromedp.SendKeys("dialog [name=elements]", "3-x"+kb.Enter))
	b.sees(t, "dialog [role=alert] code", "elements")
	b.do(t, chromedp.KeyEvent(kb.Escape))
	b.until(t, "!document.querySelector('dialog').open")
	require.Equal(t, []string{"400 /v1/jobs/" + idText(id) + "/cancel"}, b.answered())
}

// notYours looks for a job of somebody else.
func notYours(t *testing.T, b *browser, id job.ID) {
	b.open(t, "/jobs/"+idText(id))
	b.sees(t, "#problem", "there is no job "+idText(id)+", or it is not yours")
	require.Equal(t, "404 /v1/jobs/"+idText(id), b.answered()[0])
}

// seeEvents sees what happened, and what happens.
func seeEvents(t *testing.T, b *browser, id job.ID) {
	b.open(t, "/events?job="+idText(id))
	b.sees(t, "#events-end", "Following")
	b.sees(t, "#events td", "submitted")
	b.sees(t, "#events td", "CANCELLED")
	require.NotContains(t, value[string](t, b, "document.querySelector('#events').innerText"), "n2")
	b.answered() // the view before may have looked once more
}

// seeNodes sees the nodes and one of them.
func seeNodes(t *testing.T, b *browser) {
	b.click(t, "nav", "Nodes")
	b.sees(t, "td", "READY")
	b.click(t, "main", "n1")
	b.sees(t, "h1", "Node n1")
	b.sees(t, ".warning", "Warning:")
	b.sees(t, "dd", "process groups")
	require.Equal(t, string(api.NodeReady), value[string](t, b, "document.querySelector('h1 .state').innerText"))
}

// narrowAndDark looks at all views on a telephone, by night.
func narrowAndDark(t *testing.T, b *browser, running, waiting job.ID) {
	paper := value[string](t, b, "getComputedStyle(document.body).backgroundColor")
	b.do(t, chromedp.EmulateViewport(360, 740))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	require.NoError(t, err)
	require.NotEqual(t, paper, value[string](t, b, "getComputedStyle(document.body).backgroundColor"))
	for view, title := range map[string]string{
		"/": "Cluster", "/nodes": "Nodes", "/nodes/n1": "Node n1", "/jobs": "Jobs", "/events": "Events", "/shares": "Shares", "/timeline": "Timeline", "/nothing": "There is nothing here",

		"/jobs/" + idText(running): hostile, "/jobs/" + idText(waiting) + "/explain": "toobig",
		"/jobs/" + idText(running) + "/log": hostile, "/jobs/" + idText(running) + "/spec": hostile,
	} {
		b.open(t, view)
		b.sees(t, "h1", title)
		require.LessOrEqual(t, value[int](t, b, "document.documentElement.scrollWidth"), 360, view)
	}
}

// loseServer says that the server does not answer, and goes on when it does.
func loseServer(t *testing.T, b *browser, id job.ID) {
	b.open(t, "/jobs")
	b.sees(t, "td", hostile)
	block := func(path string, yes bool) {
		_, err := chromedp.Call(b.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{
			URLPatterns: []*network.BlockPattern{{URLPattern: "https://" + b.host + path, Block: yes}},
		})
		require.NoError(t, err)
	}
	block("/v1/*", true)
	b.sees(t, "#problem", "The server does not answer.")
	b.sees(t, "td", hostile) // what was known stays
	block("/v1/*", false)
	b.until(t, "document.querySelector('#problem').innerText === ''")
	block("/v1/jobs/*/logs*", true)
	b.open(t, "/jobs/"+idText(id)+"/log")
	b.sees(t, "#log-end", "It is read again in a moment.")
	block("/v1/jobs/*/logs*", false)
	b.sees(t, "#log", "second line")
	b.sees(t, "#log-end", "This is the end of the log.")
}

// logOut forgets the token.
func logOut(t *testing.T, b *browser) {
	b.click(t, "header", "Log out")
	b.sees(t, "h1", "Who are you?")
	require.Equal(t, 0, value[int](t, b, "sessionStorage.length"))
	require.NotContains(t, b.text(), "toobig")
}

// seeShares reads who has which share of the fleet, before and after there is a tree of queues.
func seeShares(t *testing.T, b *browser, f *fleet) {
	b.open(t, "/shares")
	b.sees(t, "main", "jobs go by priority and number alone")
	b.sees(t, "table[aria-label=Shares] td", "user eve")
	require.NoError(t, f.admin.SetQueue(t.Context(), api.Queue{Name: "uni", Weight: 3}))
	require.NoError(t, f.admin.SetQueue(t.Context(), api.Queue{Name: "lab", Parent: "uni"}))
	b.sees(t, "main", "the one that uses least for its weight goes first")
	b.sees(t, ".depth1", "lab")
	b.sees(t, "td", "75.0%")
	require.Zero(t, value[int](t, b, `[...document.querySelectorAll("th")].filter((e) => e.textContent === "Level").length`))
	require.NoError(t, f.admin.SetQueue(t.Context(), api.Queue{Name: "uni", Weight: 3, Policy: api.PolicyUsage}))
	b.sees(t, "th", "Level")
	b.sees(t, "td", "inf")
	require.NoError(t, f.admin.RemoveQueue(t.Context(), "lab"))
	require.NoError(t, f.admin.RemoveQueue(t.Context(), "uni"))
	b.sees(t, "main", "jobs go by priority and number alone")
}

// seeTimeline reads until when a node is busy, what is set aside, and what is expected.
func seeTimeline(t *testing.T, b *browser, f *fleet, eve *client.Client) {
	n, err := f.admin.Node(t.Context(), "n1")
	require.NoError(t, err)
	spec := job.Spec{Command: []string{"sleep", "1000"}, TimeLimit: job.Duration(time.Hour), Resources: job.Resources{CPU: n.Machine.CPU}}
	first := f.submit(t, eve, spec)
	f.waitFor(t, first, job.Running)
	second := f.submit(t, eve, spec)
	from := time.Now().Add(2 * time.Hour)
	_, err = f.admin.AddReservation(t.Context(), api.Reservation{Name: "course", Nodes: []string{"n1"}, From: from, To: from.Add(time.Hour)})
	require.NoError(t, err)
	b.open(t, "/timeline")
	b.until(t, "document.querySelector('.timeline .name')?.textContent === 'n1'")
	b.until(t, "[...document.querySelectorAll('.timeline .kept title')].some((e) => e.textContent.startsWith('n1: reservation course'))")
	b.until(t, "[...document.querySelectorAll('.timeline .promised title')].some((e) => e.textContent.includes('is expected to start by'))")
	b.sees(t, "table[aria-label='Set aside'] td", "course")
	b.sees(t, "table[aria-label='Expected starts'] td", "n1")
	b.sees(t, "table[aria-label='Expected starts'] td", idText(second))
	b.do(t, chromedp.SetValue("[name=node]", "nosuch"))
	b.click(t, "main", "Show")
	b.sees(t, "main", "There is no such node.")
	require.NoError(t, f.admin.RemoveReservation(t.Context(), "course"))
	for _, id := range []job.ID{second, first} {
		_, err := eve.Cancel(t.Context(), id, api.Selection{})
		require.NoError(t, err)
	}
	f.waitFor(t, first, job.Cancelled)
}
