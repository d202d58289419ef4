package page

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// programs are the names that Chromium goes by.
var programs = []string{"chromium", "chromium-browser", "google-chrome"}

// findBrowser is the path of Chromium. Without one the test is skipped.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("there is no browser: none of %s is in PATH", strings.Join(programs, ", "))
	return ""
}

// browser is a tab, and what went wrong in it.
type browser struct {
	ctx  context.Context
	host string

	mu       sync.Mutex
	problems []string
	refused  []string // "status path" of answers that are no success
	broken   []string // why requests failed
}

// openBrowser starts a browser that trusts the fleet's server by its key, and ends
// it with the test.
func openBrowser(t *testing.T, f *fleet) *browser {
	t.Helper()
	sum := sha256.Sum256(f.serverKey(t))
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(findBrowser(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(sum[:])),
		chromedp.WSURLReadTimeout(patience),
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{ctx: ctx, host: f.address}
	require.NoError(t, chromedp.Listen(ctx, b.hear))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)
	b.do(t, chromedp.EmulateViewport(1280, 900))
	return b
}

// hear notes what should not happen.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bad := func(format string, args ...any) { b.problems = append(b.problems, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != b.host {
			bad("a request to %s", e.Request.URL)
		}
	case *network.EventResponseReceived:
		if u, err := url.Parse(e.Response.URL); err == nil && e.Response.Status >= 400 {
			b.refused = append(b.refused, fmt.Sprintf("%d %s", e.Response.Status, u.Path))
		}
	case *network.EventLoadingFailed:
		b.broken = append(b.broken, e.ErrorText)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			bad("the console says: %s", e.Args[0].Value)
		}
	case *runtime.EventExceptionThrown:
		bad("an exception: %s", e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		// Answers that are no success are in refused.
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			bad("the browser says: %s", e.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		bad("an alert: %s", e.Message)
	}
}

// do does things in the tab.
func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%v\n%s", err, b.state())
	}
}

// text is what the page shows.
func (b *browser) text() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// trouble is what should not have happened.
func (b *browser) trouble() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.problems, "\n")
}

// state is what there is to know where a step has failed.
func (b *browser) state() string {
	text, trouble := b.text(), b.trouble()
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("the page says:\n%s\n%s\nrequests that failed: %v", text, trouble, b.broken)
}

// answered are the answers that were no success, since it was called last.
func (b *browser) answered() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.refused
	b.refused = nil
	return out
}

// open goes to a view.
func (b *browser) open(t *testing.T, view string) {
	t.Helper()
	b.do(t, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", view)))
}

// sees waits until an element, by its selector, is there with the text in it.
func (b *browser) sees(t *testing.T, selector, text string) {
	t.Helper()
	b.until(t, fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))", selector, text))
}

// until waits until an expression is true.
func (b *browser) until(t *testing.T, expression string) {
	t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if is {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", expression, err, b.state())
		}
		wait(ctx)
	}
}

// click presses the button, or follows the link, with the text: where a user would
// press it, and not before it can be pressed there.
func (b *browser) click(t *testing.T, within, text string) {
	t.Helper()
	find := fmt.Sprintf(`(() => {
		const it = [...document.querySelectorAll("%[1]s button, %[1]s a")].find((e) => e.innerText.trim() === %[2]q);
		it?.scrollIntoView({ block: "center" });
		const box = it?.getBoundingClientRect();
		const at = box && [box.x + box.width / 2, box.y + box.height / 2];
		return at && it.contains(document.elementFromPoint(...at)) ? at : [];
	})()`, within, text)
	b.until(t, find+".length === 2")
	at := value[[]float64](t, b, find)
	b.do(t, chromedp.MouseClickXY(at[0], at[1]))
}

// value is what an expression is.
func value[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return v
}
