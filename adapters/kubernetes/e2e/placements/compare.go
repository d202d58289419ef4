package placements

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// run says which cases are played, and how the subject is configured.
type run struct {
	seed        uint64
	from, cases uint64
	// config is the part of the subject's configuration that is not the default, and
	// not the reference's.
	config string
}

// perWorld is how many cases are played in a world, numbers that start with a
// multiple of it.
const perWorld = 20

// difference is a case in which the two sides differ.
type difference struct {
	script             script
	world              world
	reference, subject []outcome
	at                 int // in these; -1 while none is known
}

// logLines is how much of a scheduler's log is shown when a case cannot be played.
const logLines = 20

// wipePatience bounds how long the clusters take to become empty.
const wipePatience = 2 * time.Minute

// compare plays the cases on both sides and returns the first difference, nil if there
// is none.
func (b *sides) compare(ctx context.Context, r run) (*difference, counts, error) {
	var c counts
	for number := r.from; number < r.from+r.cases; {
		next := min((number/perWorld+1)*perWorld, r.from+r.cases)
		d, err := b.compareIn(ctx, drawWorld(r.seed, number/perWorld), r, number, next, &c)
		if d != nil || err != nil {
			return d, c, err
		}
		number = next
	}
	return nil, c, nil
}

// compareIn plays the cases up to the next in a world.
func (b *sides) compareIn(ctx context.Context, w world, r run, number, next uint64, c *counts) (found *difference, err error) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wipePatience)
		defer cancel()
		if left := b.each(func(s *side) error { return s.leave(ctx) }); err == nil {
			err = left
		}
	}()
	err = b.each(func(s *side) error {
		config := ""
		if s == b.subject {
			config = r.config
		}
		return s.enter(ctx, w, config)
	})
	if err != nil {
		return nil, err
	}
	for ; number < next; number++ {
		d := &difference{script: draw(r.seed, number), world: w}
		if err := b.play(ctx, d); err != nil {
			return nil, fmt.Errorf("seed %d, case %d: %w", r.seed, number, err)
		}
		if d.at >= 0 {
			return d, nil
		}
		c.add(d.reference)
	}
	return nil, nil
}

// play plays the case on both sides, and writes down what came of it.
func (b *sides) play(ctx context.Context, d *difference) error {
	err := b.each(func(s *side) (err error) {
		into := &d.reference
		if s == b.subject {
			into = &d.subject
		}
		if *into, err = s.play(ctx, d.script); err != nil {
			err = fmt.Errorf("%w\nthe end of its log:\n%s", err, s.scheduler.Tail(logLines))
		}
		return err
	})
	d.at = apart(d.reference, d.subject)
	if err != nil {
		// Where they differ says more: one of them may wait in vain for what the other
		// has got.
		err = fmt.Errorf("%w\nthe first difference, if any:\n%v", err, d)
	}
	return err
}

// String is the whole case, for people.
func (d *difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, case %d, at decision %d\n", d.script.seed, d.script.number, d.at)
	at := func(list []outcome) string {
		if d.at < 0 || d.at >= len(list) {
			return "nothing"
		}
		return list[d.at].String()
	}
	fmt.Fprintf(&b, "kube-scheduler:  %s\nberth-scheduler: %s\n", at(d.reference), at(d.subject))
	fmt.Fprintf(&b, "before, on both sides:\n")
	for i := range max(d.at, 0) {
		fmt.Fprintf(&b, "  %s\n", d.reference[i])
	}
	fmt.Fprintf(&b, "the default namespace is of team %q; besides there are\n", d.world.team)
	for _, o := range d.world.objects {
		fmt.Fprintf(&b, "  %T %s\n", o, text(o))
	}
	fmt.Fprintf(&b, "%s", d.script)
	fmt.Fprintf(&b, "again: go test ./placements -seed %d -from %d -cases 1\n", d.script.seed, d.script.number)
	return b.String()
}
