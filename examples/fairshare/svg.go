package main

import (
	"bytes"
	"fmt"
	"time"
)

// The picture, in its units.
const (
	width, height = 800, 300
	left, top     = 50, 30
)

// drawing is the picture of the shares: time to the right, an area for each department
// above the others'.
func drawing(r *result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", left+width+20, top+height+50)
	fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="#f4f4f4"/>`+"\n", left, top, width, height)
	below := make([]int64, len(r.samples))
	for i := range departments {
		area(&b, r, i, below)
	}
	for share := 0; share <= 100; share += 25 {
		at := y(int64(share) * cores / 100)
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#fff"/>`+"\n", left, left+width, at, at)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%d%%</text>`+"\n", left-6, at+4, share)
	}
	hours := int(r.options.length / time.Hour)
	for hour := 0; hour <= hours; hour += max(hours/12, 1) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d:00</text>`+"\n", r.x(time.Duration(hour)*time.Hour), top+height+18, hour)
	}
	for i := range departments {
		at := left + i*150
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="12" height="12" fill="%s"/>`, at, top-20, departments[i].colour)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", at+18, top-10, departments[i].name)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// area draws what the department uses on top of what is below, and adds it to that.
func area(b *bytes.Buffer, r *result, department int, below []int64) {
	fmt.Fprintf(b, `<polygon fill="%s" points="`, departments[department].colour)
	for i := range r.samples {
		fmt.Fprintf(b, "%.1f,%.1f ", r.x(r.samples[i].at), y(below[i]))
	}
	for i := len(r.samples) - 1; i >= 0; i-- {
		below[i] += r.samples[i].use[department]
		fmt.Fprintf(b, "%.1f,%.1f ", r.x(r.samples[i].at), y(below[i]))
	}
	b.WriteString(`"/>` + "\n")
}

func (r *result) x(since time.Duration) float64 {
	return left + width*float64(since)/float64(r.options.length)
}

func y(n int64) float64 { return top + height*(1-float64(n)/cores) }
