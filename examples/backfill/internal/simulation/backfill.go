package simulation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-project/berth/engine"
)

// Backfill is how jobs may overtake others that wait: none, easy, easy-sjf (easy with
// the shortest candidates first), conservative, or k=N, where the first N that wait
// have reservations.
type Backfill string

// The ways of backfilling, k=N aside.
const (
	None         Backfill = "none"
	EASY         Backfill = "easy"
	EASYShortest Backfill = "easy-sjf"
	Conservative Backfill = "conservative"
)

const depthPrefix = "k="

// ParseBackfill returns the way that the text names.
func ParseBackfill(text string) (Backfill, error) {
	b := Backfill(text)
	switch b {
	case None, EASY, EASYShortest, Conservative:
		return b, nil
	}
	if _, err := b.depth(); err != nil {
		return "", fmt.Errorf("%q is neither none, easy, easy-sjf, conservative nor k=N with N from 1", text)
	}
	return b, nil
}

// depth is the N of k=N.
func (b Backfill) depth() (int, error) {
	text, is := strings.CutPrefix(string(b), depthPrefix)
	if !is {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.Atoi(text)
	if err == nil && n < 1 {
		err = strconv.ErrRange
	}
	return n, err
}

// configure has the engine backfill in this way.
func (b Backfill) configure(cfg *engine.Config) error {
	switch b {
	case None:
		cfg.Backfill.Mode = engine.InOrder
	case EASY:
		cfg.Backfill.Mode = engine.EASY
	case EASYShortest:
		cfg.Backfill.Mode, cfg.Backfill.ShortestFirst = engine.EASY, true
	case Conservative:
		cfg.Backfill.Mode = engine.Conservative
	default:
		depth, err := b.depth()
		if err != nil {
			return fmt.Errorf("backfill %q: %w", b, err)
		}
		cfg.Backfill.Mode, cfg.Backfill.Reservations = engine.Reservations, depth
	}
	return nil
}
