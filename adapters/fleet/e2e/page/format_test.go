package page

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Amounts and times look as on the command line.
func TestFormat(t *testing.T) {
	findBrowser(t)
	f := startFleet(t)
	b := openBrowser(t, f)
	b.do(t, chromedp.Navigate("https://"+f.address+"/"))
	b.sees(t, "h1", "Who are you?")
	loaded, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](
		`Promise.all([import("/format.js"), import("/log.js")]).then(([f, l]) => Boolean(Object.assign(globalThis, f, l)))`, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	require.True(t, loaded)
	for expression, want := range map[string]string{
		`clock(0)`: "00:00", `clock(61.9)`: "01:01", `clock(3600)`: "01:00:00", `clock(93784)`: "1-02:03:04", `clock(-5)`: "00:00",
		`elapsed(undefined, undefined)`: "-", `elapsed("2026-01-30T14:00:00Z", "2026-01-31T16:03:04.9Z")`: "1-02:03:04",
		`stamp(undefined)`: "-", `stamp(new Date(2026, 0, 30, 5, 4, 3).toISOString())`: "2026-01-30 05:04:03",
		`shortBytes(0)`: "0", `shortBytes(1023)`: "1023", `shortBytes(1536)`: "1.5Ki", `shortBytes(3 * 2 ** 30)`: "3Gi",
		`shortBytes(100 * 2 ** 20)`: "100Mi", `shortBytes(2 ** 60)`: "1Ei",
		`String(bytes("512Mi"))`: "536870912", `String(bytes("1500M"))`: "1500000000", `String(bytes("7"))`: "7", `String(bytes(undefined))`: "0",
		`cores(0.1 + 0.2)`: "0.3", `cores(64)`: "64", `plural(1, "node")`: "1 node", `plural(0, "node")`: "0 nodes",
		`visible("größte <b> \u{1F680}")`:                  "größte <b> \U0001F680",
		`visible("\x1b]0;owned\x07rm\u202e\u{E0001}\n\t")`: `\x1b]0;owned\arm\u202e\U000e0001\n\t`,
		`visibleLines("a\x1b\n\tb")`:                       "a\\x1b\n\tb",
	} {
		require.Equal(t, want, value[string](t, b, expression), expression)
	}
	// A log that comes in two pieces is the same, wherever it was cut.
	const written = `"one\r\ntwo\rthree \x1b[1;31mred\x1b[0m \x1b[2J \x1b"`
	const want = "one\ntwo\nthree red \\x1b[2J \\x1b"
	for cut := range value[int](t, b, written+".length") + 1 {
		got := value[string](t, b, fmt.Sprintf(`(() => { const tame = tamer(), text = %s; return tame(text.slice(0, %d)) + tame(text.slice(%d)) + tame("", true); })()`,
			written, cut, cut))
		require.Equal(t, want, got, "cut at %d", cut)
	}
}
