package main

// colour is a colour of text on a terminal, and of the same thing in a picture.
type colour struct{ onTerminal, inPicture string }

var (
	bold   = colour{"1", "#000"}
	grey   = colour{"90", "#bbb"}
	red    = colour{"31", "#d33"}
	green  = colour{"32", "#3a3"}
	yellow = colour{"33", "#e90"}
	cyan   = colour{"36", "#3bc"}
)

// painted is the text in the colour where the report is for a terminal, else the text.
func (p *printer) painted(c colour, text string) string {
	if !p.colours {
		return text
	}
	return "\x1b[" + c.onTerminal + "m" + text + "\x1b[0m"
}

// heading begins a part of the report.
func (p *printer) heading(text string) { p.printf("\n%s\n", p.painted(bold, text)) }

// gauge draws a part of a whole.
func (p *printer) gauge(part, whole int64, width int) string {
	return p.painted(green, gauge(part, whole, width))
}
