package modeltest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// The pools from which the generators draw.
var (
	labelKeys = []string{ZoneKey, "rack", "app", "tier", "weight", "Übung mit Leerzeichen/ "}
	// Some values are whole numbers, some only look like them.
	labelValues = []string{"", "a", "b", "c", "a b", "0", "1", "2", "-7", "+2", "01", "1.5", "9223372036854775807", "9223372036854775808"}
	zones       = []string{"", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9"}
	namespaces  = []string{"", "default", "web", "batch"}
	scalars     = []string{"licences", "example.com/fpga", "pods", "CPU", " "}
	classes     = []string{"gpu", "fpga"}
	models      = []string{"V100M16", "A100", "T4"}
	images      = []string{"web", "web:1", "registry.example/web:1", "db@sha256:0123", "batch:latest"}
	effects     = []model.TaintEffect{model.NoSchedule, model.PreferNoSchedule, model.NoExecute}
	groups      = []string{"g1", "g2", "g3"}
	preemption  = []model.PreemptionPolicy{"", model.PreemptLower, model.PreemptNever}
)

// The pools from which the generators of storage draw.
var (
	storageClasses = []string{"local", "ssd", "shared"}
	provisioners   = []string{"", model.NoProvisioner, "disk.example.com", "files.example.com"}
	builtIn        = []string{"example.com/old-disk", "example.com/old-files"}
	accessModes    = []model.AccessMode{model.ReadWriteOnce, model.ReadOnlyMany, model.ReadWriteMany, model.ReadWriteOnceWorkload}
	volumeModes    = []model.VolumeMode{"", model.FilesystemVolume, model.BlockVolume}
)

// epoch is the time before which nothing is created.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pick returns one of the choices.
func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }

// picks returns a list of at most so many of the choices, maybe with repetitions.
func picks[T any](r *rand.Rand, most int, choices []T) []T {
	return list(r, most, func() T { return pick(r, choices) })
}

// maybe returns the value or, as often, the zero value.
func maybe[T any](r *rand.Rand, value T) T {
	if r.IntN(2) == 0 {
		var zero T
		return zero
	}
	return value
}

// list returns nil (often), an empty list (sometimes), or 1 to most items.
func list[T any](r *rand.Rand, most int, item func() T) []T {
	switch r.IntN(8) {
	case 0, 1, 2:
		return nil
	case 3:
		return []T{}
	}
	items := make([]T, 1+r.IntN(most))
	for i := range items {
		items[i] = item()
	}
	return items
}

// unique drops every item that is like an earlier one.
func unique[T any](items []T, like func(a, b T) bool) []T {
	kept := items[:0]
	for _, item := range items {
		if !slices.ContainsFunc(kept, func(k T) bool { return like(k, item) }) {
			kept = append(kept, item)
		}
	}
	return kept
}

func randomTime(r *rand.Rand) time.Time {
	return pick(r, []time.Time{{}, epoch, epoch.Add(time.Duration(r.Int64N(int64(time.Hour))))})
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i) }

func workloadID(i int) string { return fmt.Sprintf("w%d", i) }
