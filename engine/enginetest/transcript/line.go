package transcript

import (
	"strconv"
	"strings"
	"time"
)

// line is a command: a verb, words and name=value pairs.
type line struct {
	text, verb string
	words      []string
	args       map[string]string
}

func parseLine(text string) line {
	l := line{text: text, args: map[string]string{}}
	for i, token := range tokens(text) {
		name, value, pair := strings.Cut(token, "=")
		switch {
		case i == 0:
			l.verb = token
		case token[0] != '"' && pair:
			l.args[name] = strings.Trim(value, `"`)
		default:
			l.words = append(l.words, strings.Trim(token, `"`))
		}
	}
	return l
}

// tokens splits at spaces that are not between quotes; the quotes stay.
func tokens(text string) []string {
	var list []string
	var token strings.Builder
	quoted := false
	for _, c := range text {
		if c == '"' {
			quoted = !quoted
		}
		if c != ' ' || quoted {
			token.WriteRune(c)
		} else if token.Len() > 0 {
			list = append(list, token.String())
			token.Reset()
		}
	}
	if token.Len() > 0 {
		list = append(list, token.String())
	}
	return list
}

// word is the i-th word, empty where there are not so many.
func (l *line) word(i int) string {
	if i < len(l.words) {
		return l.words[i]
	}
	return ""
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

// epoch is when transcripts begin.
var epoch = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// since prints a time as an offset from the beginning.
func since(t time.Time) string { return t.Sub(epoch).String() }
