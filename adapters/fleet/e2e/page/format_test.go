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
		`Promise.all([import("/format.js"), import("/log.js"), import("/timeline.js"), import("/shares.js"), import("/jobs.js")]).then(([f, l, t, s, j]) => Boolean(Object.assign(globalThis, f, l, t, s, j)))`, chromedp.EvalAwaitPromise))
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
		`amounts({cpu: "1.5", gpus: 2, other: {licence: 4}})`: "cpu=1.5,gpus=2,licence=4", `amounts(undefined)`: "-",
		// What was used over time is said of those whose queue goes by it, also where it was nothing.
		`[used({}), level({})].join()`: "-,-", `[used({usage: {of: ""}}), level({usage: {of: ""}})].join()`: "00:00,inf",
		`[used({usage: {of: "cpu", fleet: 5400.5}}), level({usage: {of: "cpu", fleet: 5400.5}, level: 0.5})].join()`: "01:30:00 of cpu,0.500",
		`used({usage: {of: "prices", fleet: 1}})`: "00:01 by prices",
		// A forecast has two times, unless there was none, or they are one.
		`String(likely(undefined))`: "null", `likely({})`: "not evaluated", `likely({at: "2026-01-30T14:00:00Z"})`: "not foreseen",
		`likely({at: "2026-01-30T14:00:00Z", p50: new Date(2026, 0, 30, 5, 4, 3).toISOString(), p90: new Date(2026, 0, 30, 6, 4, 3).toISOString()})`: "by 2026-01-30 05:04:03 (P50), 2026-01-30 06:04:03 (P90)",
		`likely({at: "2026-01-30T14:00:00Z", p50: new Date(2026, 0, 30, 5, 4, 3).toISOString(), p90: new Date(2026, 0, 30, 5, 4, 3).toISOString()})`: "by 2026-01-30 05:04:03 (P50 and P90)",
		// What ends later is there from the beginning, what has no limit to the end.
		`JSON.stringify(steps({cpu: "4", busy: [{until: "1970-01-01T00:00:01Z", cpu: "1", tasks: 2, jobs: [7]}, {cpu: "2", tasks: 1}]}, 0, 3000))`: `[{"from":0,"to":1000,"part":0.75,"tasks":3,"jobs":[7]},{"from":1000,"to":3000,"part":0.5,"tasks":1,"jobs":[]}]`,
		// What should have ended takes no time, and what ends beyond the picture ends with it.
		`JSON.stringify(steps({cpu: "1", busy: [{until: "1970-01-01T00:00:01Z", cpu: "1", tasks: 1}, {until: "1970-01-01T01:00:00Z", cpu: "2", tasks: 1}]}, 2000, 3000))`: `[{"from":2000,"to":3000,"part":1,"tasks":1,"jobs":[]}]`,
		`[rowHeight(10), rowHeight(100), rowHeight(500)].join()`: "22,12,6",
		`visible("größte <b> \u{1F680}")`:                        "größte <b> \U0001F680",
		`visible("\x1b]0;owned\x07rm\u202e\u{E0001}\n\t")`:       `\x1b]0;owned\arm\u202e\U000e0001\n\t`,
		`visibleLines("a\x1b\n\tb")`:                             "a\\x1b\n\tb",
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
