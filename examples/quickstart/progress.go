package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far the run is: a bar where somebody watches, else a line
// for each quarter.
type progress struct {
	out     io.Writer
	total   int
	bar     *progressbar.ProgressBar // nil: lines
	count   atomic.Int64
	started time.Time
	ended   chan struct{} // closed by stop
	joined  chan struct{} // closed when the bar is no longer drawn
}

func newProgress(out io.Writer, total int, mayDraw bool) *progress {
	p := &progress{out: out, total: total, ended: make(chan struct{}), joined: make(chan struct{})}
	if mayDraw && isTerminal(out) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░"}),
		)
	}
	return p
}

// start begins to draw.
func (p *progress) start() {
	p.started = time.Now()
	go func() {
		defer close(p.joined)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for p.bar != nil {
			select {
			case <-tick.C:
				p.draw()
			case <-p.ended:
				_ = p.bar.Finish()
				return
			}
		}
	}()
}

// draw brings the bar up to date. One that cannot be drawn is no reason to stop.
func (p *progress) draw() {
	n := p.count.Load()
	rate := float64(n) / time.Since(p.started).Seconds()
	p.bar.Describe(fmt.Sprintf("%7s decisions/s", grouped(int(rate))))
	_ = p.bar.Set64(n)
}

// stop ends the drawing and clears the bar away.
func (p *progress) stop() {
	close(p.ended)
	<-p.joined
}

// decided is told how many workloads have been tried. The engine waits for it.
func (p *progress) decided(n int) {
	p.count.Store(int64(n))
	if p.bar == nil && n < p.total && n*4/p.total > (n-1)*4/p.total {
		fmt.Fprintf(p.out, "  %7s of %s tried after %s\n", grouped(n), grouped(p.total), seconds(time.Since(p.started)))
	}
}
