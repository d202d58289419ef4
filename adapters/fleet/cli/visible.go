package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible is the text with all characters that cannot be shown, which includes
// those that a terminal acts on, written as Go writes them in quotes.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case hidden(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }

// visibleLines is visible for a text of several lines.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = visible(line)
	}
	return strings.Join(lines, "\n")
}

// tame is a writer for what jobs have written, on its way to a terminal. Lines,
// tabs and colours are left as they are; other sequences are made visible, so that
// one's output cannot act on another's terminal.
type tame struct {
	to io.Writer
	// rest is the beginning of a character or a colour whose end has not come yet.
	rest []byte
}

// maxColour is the longest sequence that is taken for a colour.
const maxColour = 32

// Write implements io.Writer.
func (t *tame) Write(p []byte) (int, error) {
	data := append(t.rest, p...)
	var b strings.Builder
	for len(data) > 0 {
		n := t.next(data, &b)
		if n == 0 {
			break
		}
		data = data[n:]
	}
	t.rest = append([]byte(nil), data...)
	_, err := io.WriteString(t.to, b.String())
	return len(p), err
}

// Close writes what has no end.
func (t *tame) Close() error {
	_, err := io.WriteString(t.to, visible(string(t.rest)))
	t.rest = nil
	return err
}

// next writes the first character or colour of data, and returns its length: 0
// where its end is not there yet.
func (t *tame) next(data []byte, b *strings.Builder) int {
	if data[0] == 0x1b {
		n, whole := colour(data)
		switch {
		case !whole:
			return 0
		case n > 0:
			b.Write(data[:n])
			return n
		}
	}
	if !utf8.FullRune(data) {
		return 0
	}
	r, n := utf8.DecodeRune(data)
	if r == '\n' || r == '\t' || r == '\r' {
		b.WriteRune(r)
	} else {
		b.WriteString(visible(string(data[:n])))
	}
	return n
}

// colour is the length of the colour that data begins with, 0 where it begins with
// something else; whole says whether that can be known.
func colour(data []byte) (n int, whole bool) {
	for i, ch := range data {
		switch {
		case i == 0, i == 1 && ch == '[':
		case i > 1 && ch == 'm':
			return i + 1, true
		case i > maxColour || i == 1 || (ch < '0' || ch > '9') && ch != ';' && ch != ':':
			return 0, true
		}
	}
	return 0, false
}
