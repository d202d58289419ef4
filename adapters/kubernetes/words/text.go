package words

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// phrase is a row of the table, ready to be looked for.
type phrase struct {
	begins string         // the text before the first name
	whole  *regexp.Regexp // from where it is looked for
	open   bool           // something else follows: the phrase ends in a mark or in a name
	kube   string         // with %s for each name
}

// phrases are those of the table, the longest first.
var phrases = compile(table)

// verb stands for a name in a phrase; see row.
var verb = regexp.MustCompile(`%[qsd]`)

// names are what a verb stands for.
var names = map[string]string{"%q": `("(?:[^"\\]|\\.)*")`, "%s": `(\S*)`, "%d": `(-?\d+)`}

func compile(rows []row) []phrase {
	list := make([]phrase, 0, len(rows))
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b row) int { return len(b.neutral) - len(a.neutral) })
	for _, r := range rows {
		var pattern strings.Builder
		rest := r.neutral
		for at := verb.FindStringIndex(rest); at != nil; at = verb.FindStringIndex(rest) {
			pattern.WriteString(regexp.QuoteMeta(rest[:at[0]]) + names[rest[at[0]:at[1]]])
			rest = rest[at[1]:]
		}
		pattern.WriteString(regexp.QuoteMeta(rest))
		begins, _, _ := strings.Cut(r.neutral, "%")
		list = append(list, phrase{
			begins: begins, whole: regexp.MustCompile("^" + pattern.String()),
			open: rest == "" || strings.HasSuffix(rest, ": "),
			kube: verb.ReplaceAllString(r.kube, "%s"),
		})
	}
	return list
}

// Text is a message of the engine, or of one of its plugins, in the words of
// kube-scheduler. Numbers of nodes by reason ("0/3 nodes are available: 1 ..., 2 ...")
// are sorted anew, as kube-scheduler sorts the finished texts. A text in which there is
// nothing of the table comes back as it is. Any goroutine may call it.
func Text(message string) string {
	var out strings.Builder
	for {
		at := counts.FindStringSubmatchIndex(message)
		if at == nil {
			break
		}
		out.WriteString(render(message[:at[2]]))
		out.WriteString(renderCounts(message[at[2]:at[3]]))
		message = message[at[3]:]
	}
	out.WriteString(render(message))
	return out.String()
}

// Texts is Text of each.
func Texts(messages []string) []string {
	list := slices.Clone(messages)
	for i := range list {
		list[i] = Text(list[i])
	}
	return list
}

// Error is an error whose text is that of err in the words of kube-scheduler, and which
// wraps it; nil for nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return rendered{err}
}

type rendered struct{ error }

func (r rendered) Error() string { return Text(r.error.Error()) }

func (r rendered) Unwrap() error { return r.error }

var (
	// counts finds the list of reasons that the nodes were ruled out for.
	counts = regexp.MustCompile(`nodes are available: (\d+ .*?)\.(?:$|[ ,;\n])`)
	// another begins the next of them.
	another = regexp.MustCompile(`, \d+ `)
)

// renderCounts renders numbers of nodes by reason. The engine has sorted the finished
// texts; a list in another order is something else, and stays in it.
func renderCounts(list string) string {
	var items []string
	from := 0
	for _, at := range another.FindAllStringIndex(list, -1) {
		items = append(items, list[from:at[0]])
		from = at[0] + len(", ")
	}
	items = append(items, list[from:])
	sorted := slices.IsSorted(items)
	for i := range items {
		items[i] = render(items[i])
	}
	if sorted {
		slices.Sort(items)
	}
	return strings.Join(items, ", ")
}

// render renders the phrases in a text, and leaves alone what is in quotation marks.
func render(text string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(text); {
		if mayBegin(text[:i]) {
			if kube, length := find(text[i:]); length > 0 {
				out.WriteString(text[done:i] + kube)
				i += length
				done = i
				continue
			}
		}
		i++
		if text[i-1] == '"' {
			if quoted, err := strconv.QuotedPrefix(text[i-1:]); err == nil {
				i += len(quoted) - 1
			}
		}
	}
	if done == 0 {
		return text
	}
	return out.String() + text[done:]
}

// find is the phrase with which the text begins, in kube-scheduler's words, and how
// long it is in ours; 0 where there is none.
func find(text string) (kube string, length int) {
	for i := range phrases {
		p := &phrases[i]
		if !strings.HasPrefix(text, p.begins) {
			continue
		}
		at := p.whole.FindStringSubmatchIndex(text)
		if at == nil || !p.open && !mayEnd(text[at[1]:]) {
			continue
		}
		var named []any
		for j := 2; j < len(at); j += 2 {
			named = append(named, text[at[j]:at[j+1]])
		}
		return fmt.Sprintf(p.kube, named...), at[1]
	}
	return "", 0
}

// mayBegin reports whether a phrase may begin behind the text: where the message
// begins, behind a mark, and behind a number of nodes.
func mayBegin(before string) bool {
	n := len(before)
	switch {
	case n == 0:
		return true
	case before[n-1] == '[' || before[n-1] == '\n':
		return true
	case n == 1 || before[n-1] != ' ':
		return false
	}
	return strings.IndexByte(":,.;0123456789", before[n-2]) >= 0
}

// mayEnd reports whether a phrase may end before the text: where the message ends, and
// before a mark.
func mayEnd(after string) bool {
	return after == "" || strings.IndexByte(":,.;]\n", after[0]) >= 0 || strings.HasPrefix(after, " (")
}
